/** Random Deployments of an owner and random patches. Their values differ, so that a value shows which of them wrote it. */
import fc from "fast-check";
import type { JsonObject, KubeObject } from "#kube";
import type { WorkloadPatch } from "#workload-patch";
import { podPatch } from "./workload-patches.ts";

const NAMES = ["A", "B", "C", "D"];
const PATHS = ["/a", "/b", "/c"];

type Side = "owner" | "patch";

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const values = (side: Side) => fc.constantFrom(`${side}-1`, `${side}-2`, `${side}-3`);
const unique = <T>(keys: readonly string[], element: (key: string) => fc.Arbitrary<T>) =>
  fc.shuffledSubarray([...keys]).chain((chosen) => fc.tuple(...chosen.map(element)));

function variable(side: Side, name: string): fc.Arbitrary<JsonObject> {
  const reference = values(side).map((key) => ({ name, valueFrom: { configMapKeyRef: { name: side, key } } }));
  return fc.oneof(
    values(side).map((value) => ({ name, value })),
    reference,
  );
}

const source = (side: Side) =>
  fc
    .constantFrom("1", "2")
    .chain((number) => fc.constantFrom({ configMapRef: { name: `${side}-${number}` } }, { secretRef: { name: `${side}-${number}` } }));

const probe = (side: Side) =>
  fc.oneof(
    values(side).map((path): JsonObject => ({
      httpGet: { path: `/${path}`, port: side === "owner" ? 80 : 8080, scheme: "HTTP" },
      ...TIMES,
    })),
    values(side).map((command): JsonObject => ({ exec: { command: [command] }, ...TIMES })),
  );
const TIMES = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

const amounts = (side: Side) => {
  const amount = side === "owner" ? fc.constantFrom("100m", "200m") : fc.constantFrom("300m", "400m");
  return fc.record({ cpu: amount, memory: amount }, { requiredKeys: [] }).filter((given) => Object.keys(given).length > 0);
};

function container(side: Side, name: string): fc.Arbitrary<JsonObject> {
  return fc
    .record({
      image: side === "owner" ? values(side) : optional(values(side)),
      env: optional(unique(NAMES, (key) => variable(side, key))),
      ports: optional(
        unique(["80", "443"], (port) => values(side).map((text) => ({ containerPort: Number(port), name: text, protocol: "TCP" }))),
      ),
      volumeMounts: optional(unique(PATHS, (mountPath) => values(side).map((text) => ({ mountPath, name: text })))),
      limits: optional(amounts(side)),
      livenessProbe: optional(probe(side)),
      securityContext: optional(fc.record({ runAsUser: fc.constantFrom(side === "owner" ? 1 : 2) })),
      command: optional(fc.array(values(side), { minLength: 1, maxLength: 2 })),
    })
    .map(({ limits, ...rest }) =>
      present({ name, ...rest, resources: limits === undefined ? (side === "owner" ? {} : undefined) : { limits } }),
    );
}

/** Without absent fields and empty lists, which a server does not store. */
function present(object: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as JsonObject;
}

const volumes = (side: Side) =>
  unique(["v", "w"], (name) => values(side).map((text) => ({ name, configMap: { name: text, defaultMode: 420 } })));
const texts = (side: Side) => fc.dictionary(fc.constantFrom("note", "team"), values(side), { minKeys: 1, maxKeys: 2 });

/** One that runs to completion has no probe. */
const initContainer: fc.Arbitrary<JsonObject> = fc
  .tuple(container("owner", "init"), fc.boolean())
  .map(([{ livenessProbe: probed, ...rest }, isSidecar]) =>
    isSidecar ? present({ ...rest, livenessProbe: probed, restartPolicy: "Always" }) : rest,
  );

export const ownerDeployments: fc.Arbitrary<KubeObject> = fc
  .record({
    main: container("owner", "main"),
    side: container("owner", "side"),
    init: optional(initContainer),
    sources: optional(fc.uniqueArray(source("owner"), { minLength: 1, maxLength: 3, selector: (entry) => JSON.stringify(entry) })),
    volumes: optional(volumes("owner")),
    annotations: optional(texts("owner")),
    replicas: fc.nat({ max: 5 }),
  })
  .map(({ main, side, init, sources, volumes: list, annotations, replicas }) => {
    const initContainers = init === undefined ? undefined : [{ name: "first", image: "owner" }, init];
    const template = present({
      metadata: present({ labels: { app: "web" }, annotations }),
      spec: present({ initContainers, containers: [present({ ...main, envFrom: sources }), side], volumes: list }),
    });
    const metadata = { name: "web", namespace: "shop", labels: { app: "web" } };
    const spec = { replicas, selector: { matchLabels: { app: "web" } }, template };
    return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec } as KubeObject;
  });

export const workloadPatches: fc.Arbitrary<WorkloadPatch> = fc
  .record({
    main: container("patch", "main"),
    gone: optional(container("patch", "gone")),
    init: optional(container("patch", "init")),
    sources: fc.uniqueArray(source("patch"), { maxLength: 2, selector: (entry) => JSON.stringify(entry) }),
    variables: unique(NAMES, (name) =>
      fc
        .constantFrom("secretKeyRef", "configMapKeyRef")
        .chain((member) => values("patch").map((from): [string, JsonObject] => [name, { [member]: { name: from, key: name } }])),
    ),
    volumes: optional(volumes("patch")),
    annotations: optional(texts("patch")),
  })
  .map(({ main, gone, init, sources, variables, volumes: list, annotations }) => {
    // as compiled: variables are never in env, and a service does not know which of its containers are init containers
    const { env, ...rest } = main;
    const { env: _, ...restOfInit } = init ?? {};
    const side = { ...rest, name: "side", env } as JsonObject;
    const more = [...(gone === undefined ? [] : [gone]), ...(init === undefined ? [] : [restOfInit])];
    const containers = [rest, present(side), ...more];
    const pod = present({ containers, volumes: list });
    const patch = present({ metadata: annotations === undefined ? undefined : { annotations }, spec: pod });
    const named = ["main", ...(init === undefined ? [] : ["init"])];
    const environment = {
      envFrom: Object.fromEntries(named.map((name) => [name, sources])),
      variables: Object.fromEntries(named.map((name) => [name, Object.fromEntries(variables)])),
    };
    return podPatch({}, { patch: { spec: { template: patch } }, ...environment });
  });
