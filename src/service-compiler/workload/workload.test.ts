/** Deployment, Service, autoscaler, budget and routes of a service. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { compileService } from "../compile-service.ts";
import { compiled, mainContainer, serviceInput } from "../../../test/builders/service-input.ts";

const kinds = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const requests = { resources: { requests: { cpu: "1" } } };

test("the smallest service is a ServiceAccount and a Deployment", () => {
  expect(kinds(compiled(mainContainer({})).objects)).toEqual(["ServiceAccount api", "Deployment api"]);
});

test("objects are in apply order", () => {
  const external = { external: { storeRef: { name: "vault" }, key: "app" } };
  const spec = mainContainer(
    {
      ...requests,
      variables: { A: "a", B: "${secrets.own.k}", C: "${secrets.outside.k}" },
      files: { "/a": { content: "a" }, "/b": { binaryContent: "" }, "/c": { content: "${secrets.outside.k}" } },
      volumes: { "/d": { source: "${resources.data.ref}" } },
    },
    {
      resources: { data: { type: "volume", params: { size: "1Gi" } }, web: { type: "route", params: { host: "shop.test" } } },
      service: { ports: { http: { port: 80 } } },
      replicas: { min: 2, max: 3 },
      deploy: { strategy: "canary" },
    },
  );
  const bindings = { b: { bindings: { own: { secretRef: { name: "own" } }, outside: external } } };
  expect(kinds(compiled(spec, { bindings, secrets: { "own/k": "v" }, grants: { hosts: ["shop.test"] } }).objects)).toEqual([
    "ConfigMap api-env",
    "ConfigMap api-files",
    "Secret api-secrets",
    "Secret api-files-secret",
    "ExternalSecret api-external-secrets",
    "ExternalSecret api-files-external",
    "PersistentVolumeClaim data",
    "ServiceAccount api",
    "Deployment api",
    "Service api",
    "HorizontalPodAutoscaler api",
    "PodDisruptionBudget api",
    "Canary api",
    "HTTPRoute api-web",
  ]);
});

describe("replicas", () => {
  type Row = { name: string; own?: object; environment?: object; replicas: number; autoscaler?: object; budget: boolean };
  const rows: readonly Row[] = [
    { name: "one by default, without a budget that would block drains", replicas: 1, budget: false },
    { name: "none at all", own: { min: 0 }, replicas: 0, budget: false },
    { name: "two have a budget", own: { min: 2 }, replicas: 2, budget: true },
    { name: "max makes an autoscaler", own: { min: 2, max: 5 }, replicas: 2, autoscaler: { minReplicas: 2, maxReplicas: 5 }, budget: true },
    { name: "the environment's default", environment: { min: 3 }, replicas: 3, budget: true },
    {
      name: "the environment's autoscaler",
      environment: { max: 4 },
      replicas: 1,
      autoscaler: { minReplicas: 1, maxReplicas: 4 },
      budget: false,
    },
    {
      name: "what the service says goes before the environment",
      own: { min: 1 },
      environment: { min: 3, max: 9 },
      replicas: 1,
      budget: false,
    },
    {
      name: "an autoscaler never begins from none",
      environment: { min: 0, max: 2 },
      replicas: 1,
      autoscaler: { minReplicas: 1, maxReplicas: 2 },
      budget: false,
    },
  ];
  test.each(rows)("$name", ({ own, environment, replicas, autoscaler, budget }) => {
    const spec = mainContainer(requests, own === undefined ? {} : { replicas: own });
    const { find } = compiled(spec, environment === undefined ? {} : { environment: { defaults: { replicas: environment } } });
    expect(find("Deployment")).toMatchObject({ spec: { replicas } });
    const scaler = find("HorizontalPodAutoscaler") as { spec?: object } | undefined;
    if (autoscaler === undefined) expect(scaler).toBeUndefined();
    else expect(scaler?.spec).toMatchObject(autoscaler);
    expect(find("PodDisruptionBudget") !== undefined).toBe(budget);
  });

  test("an autoscaler without cpu requests gives a warning for each container", () => {
    const containers = { a: { image: "i:1", ...requests }, b: { image: "i:1" } };
    expect(compiled({ containers, replicas: { min: 1, max: 2 } }).warnings).toEqual([
      "spec.containers.b: requests no cpu: the autoscaler cannot tell how busy it is, and will not scale",
    ]);
  });

  test("under an autoscaler are written only on creation", () => {
    const result = compileService(serviceInput(mainContainer(requests, { replicas: { min: 2, max: 5 } })));
    const deployment = result.ok ? result.value.objects.find(({ object }) => object.kind === "Deployment") : undefined;
    expect(deployment?.once).toEqual({ spec: { replicas: 2 } });
    expect(deployment?.object).not.toHaveProperty("spec.replicas");
  });
});

test("pods have the app label of the selector and the label that policies select", () => {
  const { find } = compiled(mainContainer({}, { deploy: { rolling: { maxSurge: "25%", maxUnavailable: 0 } } }));
  const labels = { "app.kubernetes.io/name": "api", "app.kubernetes.io/managed-by": "lattice", "lattice.dev/service": "api" };
  expect(find("Deployment")).toMatchObject({
    metadata: { labels },
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/name": "api" } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      template: { metadata: { labels } },
    },
  });
});

describe("routes", () => {
  const ports = { admin: { port: 9000 }, http: { port: 80, targetPort: 8080 }, udp: { port: 53, protocol: "UDP" } };
  const route = (params: Readonly<Record<string, unknown>>, around = {}) =>
    compiled(mainContainer({}, { service: { ports }, resources: { web: { type: "route", params } } }), {
      grants: { hosts: ["shop.test", "x.test"] },
      ...around,
    }).find("HTTPRoute", "api-web");

  test("connect a host and path of the gateway to a port", () => {
    expect(route({ host: "shop.test", path: "/api" })).toEqual({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: {
        name: "api-web",
        namespace: "prod",
        labels: { "app.kubernetes.io/name": "api", "app.kubernetes.io/managed-by": "lattice" },
      },
      spec: {
        parentRefs: [{ name: "gateway", namespace: "istio-ingress" }],
        hostnames: ["shop.test"],
        rules: [{ matches: [{ path: { type: "PathPrefix", value: "/api" } }], backendRefs: [{ name: "api", port: 80 }] }],
      },
    });
  });

  const choices: readonly { port: unknown; want: number }[] = [
    { port: undefined, want: 80 },
    { port: "admin", want: 9000 },
    { port: 9000, want: 9000 },
    { port: "80", want: 80 },
  ];
  test.each(choices)("port $port is $want", ({ port, want }) => {
    const made = route({ host: "x.test", ...(port === undefined ? {} : { port }) });
    expect(made).toMatchObject({ spec: { rules: [{ backendRefs: [{ port: want }] }] } });
  });

  test("the environment may have another gateway and a domain", () => {
    const environment = { ingressDomain: "prod.test", gatewayRef: { name: "edge", namespace: "edge-system" } };
    expect(route({}, { environment })).toMatchObject({
      spec: { hostnames: ["web.prod.test"], parentRefs: [{ name: "edge", namespace: "edge-system" }] },
    });
  });
});

test("the other results of a compilation", () => {
  const spec = mainContainer(
    { variables: { A: "${resources.db.host}${metadata.name}" } },
    {
      resources: {
        db: { type: "postgres" },
        hidden: { type: "postgres", params: { database: "${secrets.s.k}" } },
        gone: {},
        web: { type: "route", params: { host: "a.test" } },
      },
      service: { ports: { http: { port: 80 } } },
    },
  );
  const bindings = { b: { bindings: { s: { secretRef: { name: "s" } } } } };
  const result = compileService(serviceInput(spec, { bindings, secrets: { "s/k": "canary" }, grants: { hosts: ["a.test"] } }));
  if (!result.ok) throw new Error("it does not compile");
  const { resolvedDependencies, peers, routes, resolved } = result.value;
  expect([...resolvedDependencies]).toEqual([
    ["db", "postgresql://db-postgres.prod.svc.cluster.local:5432/db"],
    ["web", "https://a.test/"],
  ]);
  expect(peers.get("db")).toEqual({ address: { namespace: "prod", name: "db-postgres" }, port: 5432 });
  expect(routes.get("web")).toEqual({ host: "a.test", path: "/", port: undefined });
  expect(resolved).toBe(2);
});
