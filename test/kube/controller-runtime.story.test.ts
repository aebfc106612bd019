/**
 * The controller runtime against a real API server: objects count as unchanged after the server's defaults and conversions (quantities, keyed
 * lists), managedFields distinguish Lattice's fields from others', and events and statuses are accepted.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, MetricsRegistry, noTracing, ok, silentLogger, systemClock } from "#base";
import { bindController, createManager, defineController, settled, type Plan } from "#controller-runtime";
import { defineResource, formatYamlDocuments, type KubeObject } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient, type Transport } from "#kube-client";
import { eventually, sharedPlane, type PlaneAccess } from "./harness/index.ts";

type Gadget = KubeObject & { readonly spec: { readonly image: string; readonly extra?: boolean } };
const gadgets = defineResource<Gadget>({ group: "story.lattice.dev", version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true });
const deployments = defineResource<KubeObject>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});
const configMaps = defineResource<KubeObject>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.story.lattice.dev" },
  spec: {
    group: "story.lattice.dev",
    scope: "Namespaced",
    names: { kind: "Gadget", plural: "gadgets", singular: "gadget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
      },
    ],
  },
};

/** Fields that a server converts or defaults: a quantity, a port without protocol, a container without its defaults. */
function plan({ metadata, spec }: Gadget): Plan<never> {
  const { name, namespace = "" } = metadata;
  const container = {
    name: "main",
    image: spec.image,
    ports: [{ containerPort: 80 }],
    resources: { requests: { cpu: "0.5", memory: "1024Mi" } },
  };
  const labels = { app: name };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
  };
  const extra = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${name}-extra`, namespace }, data: { a: "b" } };
  return { apply: spec.extra === true ? [deployment, extra] : [deployment], commands: [] };
}

let plane: PlaneAccess;
let namespace: string;
let client: KubeClient;
let passes = 0;
let writes = 0;
let running: Promise<void>;
const stop = new AbortController();

const controller = defineController<Gadget, null, never>({
  name: "gadget",
  reconciles: gadgets,
  owns: [deployments, configMaps],
  observe: () => Promise.resolve(ok(null)),
  plan: (gadget) => ok(plan(gadget)),
  status: () => ((passes += 1), { painted: true }),
  teardown: () => Promise.resolve(settled),
});

beforeAll(async () => {
  plane = sharedPlane();
  await plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments([crd]) });
  await plane.kubectlOk(["wait", "--for=condition=Established", "crd/gadgets.story.lattice.dev"]);
  namespace = await plane.makeNamespace("runtime");
  const config = await loadKubeconfig({ path: plane.kubeconfigPath, env: {}, home: "/", clock: systemClock });
  const transport = httpTransport(expectOk(config), { clock: systemClock });
  const counting: Transport = {
    close: () => transport.close(),
    send: (request, signal) => {
      if (request.method !== "GET") writes += 1;
      return transport.send(request, signal);
    },
  };
  client = createKubeClient({ transport: counting, clock: systemClock, random: Math.random });
  const manager = createManager({
    client,
    controllers: [bindController(controller, {})],
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    tracer: noTracing,
    identity: "story",
    limits: { settledMs: 300 },
  });
  running = manager.run(stop.signal);
});

afterAll(async () => {
  stop.abort();
  await running;
  await client.close();
});

const put = (spec: Gadget["spec"]) =>
  plane.kubectlOk(["apply", "-f", "-"], {
    stdin: JSON.stringify({ apiVersion: "story.lattice.dev/v1", kind: "Gadget", metadata: { name: "web", namespace }, spec }),
  });
const get = async (what: string, path: string) => (await plane.kubectl(["get", "-n", namespace, what, "-o", `jsonpath=${path}`])).stdout;
const image = '{.spec.template.spec.containers[?(@.name=="main")].image}';

/** After three more reconciles all pending writes have happened. */
async function afterSomePasses(): Promise<void> {
  const from = passes;
  await eventually("three more passes", () => Promise.resolve(passes >= from + 3 ? true : undefined));
}

describe("the runtime on a real API server", () => {
  test("reconciles without changes do not write, although the server has converted and defaulted applied fields", async () => {
    await put({ image: "web:1", extra: true });
    await eventually("the deployment is there", async () => (await get("deployment/web", image)) === "web:1" || undefined);
    await eventually(
      "the status is written",
      async () => (await get("gadget/web", "{.status.conditions[0].reason}")) === "Settled" || undefined,
    );
    await afterSomePasses();
    const before = [writes, await get("configmap/web-extra", "{.metadata.resourceVersion}")];
    await afterSomePasses();
    expect([writes, await get("configmap/web-extra", "{.metadata.resourceVersion}")]).toEqual(before);
    expect(await get("deployment/web", "{.spec.template.spec.containers[0].resources.requests.cpu}")).toBe("500m");
  });

  test("a user's change is reverted, and a user's addition stays", async () => {
    const sidecar = JSON.stringify({
      spec: {
        template: {
          spec: {
            containers: [
              { name: "sidecar", image: "s:1" },
              { name: "main", image: "evil:1" },
            ],
          },
        },
      },
    });
    await plane.kubectlOk(["patch", "-n", namespace, "deployment/web", "--type=strategic", "-p", sidecar]);
    await eventually("the image is reverted", async () => (await get("deployment/web", image)) === "web:1" || undefined);
    await afterSomePasses();
    const before = writes;
    await afterSomePasses();
    expect(writes).toBe(before);
    expect(await get("deployment/web", "{.spec.template.spec.containers[*].name}")).toContain("sidecar");
  });

  test("an object that is no longer wanted is deleted; a user's copy of it, with the same labels, stays", async () => {
    const { metadata, ...rest } = JSON.parse(
      await plane.kubectlOk(["get", "-n", namespace, "configmap/web-extra", "-o", "json"]),
    ) as KubeObject;
    const copy = { ...rest, metadata: { name: "copy", namespace, labels: metadata.labels, annotations: metadata.annotations } };
    await plane.kubectlOk(["apply", "-f", "-"], { stdin: JSON.stringify(copy) });
    await put({ image: "web:2" });
    await eventually("the extra is pruned", async () => (await get("configmap/web-extra", "{.metadata.name}")) === "" || undefined);
    await afterSomePasses();
    expect(await get("configmap/copy", "{.metadata.name}")).toBe("copy");
  });

  test("events are accepted and shown by kubectl", async () => {
    const note = await eventually(
      "an event",
      async () => (await plane.kubectlOk(["events", "-n", namespace, "--for", "gadget/web"])) || undefined,
    );
    expect(note).toContain("everything is as the spec wants it");
  });

  test("a deleted owner is removed, and the garbage collector deletes its objects", async () => {
    await plane.kubectlOk(["delete", "-n", namespace, "gadget/web", "--timeout=20s"]);
    // the garbage collector discovers new kinds every 30 seconds
    const gone = async () => (await get("deployment/web", "{.metadata.name}")) === "" || undefined;
    await eventually("the deployment is gone", gone, { withinMs: 90_000 });
  });
});
