/**
 * Lattice's kube-controllers on a real API server without a controller manager, and kube-controller-manager on another: from the same
 * objects, both must reach the same state.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, silentLogger, systemClock } from "#base";
import { defineResource, field, isJsonObject, type Json, type KubeObject, type ObjectKey, type OwnerReference, type Resource } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { startKubeControllers, type RunningKubeControllers } from "#kube-controllers";
import { eventually, realPlane, sharedPlane, type PlaneAccess, type RealPlane } from "./harness/index.ts";

const core = (kind: string, plural: string, namespaced = true) =>
  defineResource<KubeObject & { readonly [field: string]: unknown }>({ group: "", version: "v1", kind, plural, namespaced });
const grouped = (group: string, kind: string, plural: string, namespaced = true) => ({ ...core(kind, plural, namespaced), group });
const [namespaces, nodes] = [core("Namespace", "namespaces", false), core("Node", "nodes", false)];
const [configMaps, secrets, pods, services] = [
  core("ConfigMap", "configmaps"),
  core("Secret", "secrets"),
  core("Pod", "pods"),
  core("Service", "services"),
];
const [endpoints, events, accounts] = [core("Endpoints", "endpoints"), core("Event", "events"), core("ServiceAccount", "serviceaccounts")];
const slices = grouped("discovery.k8s.io", "EndpointSlice", "endpointslices");
const budgets = grouped("policy", "PodDisruptionBudget", "poddisruptionbudgets");
const leases = grouped("coordination.k8s.io", "Lease", "leases");
const roles = grouped("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", false);
const definitions = grouped("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false);
const gears = grouped("kc.story.lattice.dev", "Gear", "gears");

const NODE = "kc-node";

/** Keeps a Pod on a Node that is unreachable. */
const FOREVER = { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" };

/** An owner that never existed. */
const GHOST: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "9c1f2d6e-0000-4000-8000-000000000009" };

type Side = { readonly name: "ours" | "real"; readonly client: KubeClient };

let ownPlane: RealPlane;
let running: RunningKubeControllers;
let sides: readonly Side[];

async function clientOf(plane: PlaneAccess): Promise<KubeClient> {
  const config = await loadKubeconfig({ path: plane.kubeconfigPath, env: {}, home: "/", clock: systemClock });
  return createKubeClient({ transport: httpTransport(expectOk(config), { clock: systemClock }), clock: systemClock, random: Math.random });
}

beforeAll(async () => {
  ownPlane = await realPlane({ controllerManager: "absent" });
  const [own, story, real] = [await clientOf(ownPlane), await clientOf(ownPlane), await clientOf(sharedPlane())];
  const options = { client: own, clock: systemClock, random: Math.random, logger: silentLogger, rootCa: ownPlane.caPem };
  running = expectOk(await startKubeControllers(options));
  sides = [
    { name: "ours", client: story },
    { name: "real", client: real },
  ];
  await both(async ({ client }) => {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const spec = {
      group: gears.group,
      scope: "Namespaced",
      names: { plural: "gears", kind: "Gear" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    };
    await make(client, definitions, { name: "gears.kc.story.lattice.dev" }, { spec });
  });
}, 240_000);

afterAll(async () => {
  await running.close();
  for (const { client } of sides) {
    // no kubelet runs it, and for a minute it does not count as unreachable: Pods of the next story would be scheduled there
    await client.delete(nodes, { name: NODE });
    await client.close();
  }
  await ownPlane.stop();
}, 60_000);

/** Runs the same on both sides concurrently; the results must be equal. */
async function both<T>(act: (side: Side) => Promise<T>): Promise<T> {
  const [ours, real] = await Promise.all(sides.map(act));
  expect(ours).toEqual(real);
  return ours as T;
}

async function make(client: KubeClient, kind: Resource, metadata: KubeObject["metadata"], rest: object = {}): Promise<KubeObject> {
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return eventually(`${kind.kind} ${metadata.name} is accepted`, async () =>
    expectOk(await client.create<KubeObject>(kind, { apiVersion, kind: kind.kind, metadata, ...rest })),
  );
}

/** When a namespace has these objects, the controllers have observed it. */
async function makeNamespace({ client }: Side, name: string): Promise<void> {
  await make(client, namespaces, { name });
  await eventually(`${name} is set up`, async () => {
    const found = [
      await client.get(accounts, { namespace: name, name: "default" }),
      await client.get(configMaps, { namespace: name, name: "kube-root-ca.crt" }),
    ];
    return found.every(({ ok }) => ok) || undefined;
  });
}

function ownedBy({ apiVersion, kind, metadata }: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", ...more };
}

async function names(client: KubeClient, kind: Resource, namespace: string): Promise<readonly string[]> {
  const listed = expectOk(await client.list(kind, { namespace }));
  return listed.items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
}

const gone = (client: KubeClient, kind: Resource, key: ObjectKey) =>
  eventually(`${kind.kind} ${key.name} is gone`, async () => !(await client.get(kind, key)).ok || undefined, { withinMs: 90_000 });

/**
 * Resolves when the garbage collector has observed all objects of the kind created so far: it observes changes of a kind in order, and
 * collects this object, whose owner never existed, as soon as it observes it.
 */
async function collectorCaughtUp(client: KubeClient, kind: Resource, namespace: string): Promise<void> {
  const [owner, canary] = [
    { ...GHOST, name: `no-owner-of-${kind.plural}` },
    { namespace, name: `canary-${randomUUID()}` },
  ];
  await make(client, kind, { ...canary, ownerReferences: [owner] });
  await gone(client, kind, canary);
}

/** Removes values that differ between servers and runs. */
const VOLATILE = new Set(["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields", "lastTransitionTime"]);
const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

function normal(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(normal);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => !VOLATILE.has(name) && name !== TRIGGER_TIME && field !== undefined);
  const isGenerated = Object.hasOwn(value, "generateName");
  return Object.fromEntries(
    kept
      .filter(([name]) => !(isGenerated && name === "name"))
      .map(([name, field]) => [name, normal(field)])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}

describe("garbage collection", () => {
  const namespace = "kc-gc";
  const key = (name: string) => ({ namespace, name });
  beforeAll(() => both((side) => makeNamespace(side, namespace)), 60_000);

  test("in the background: dependents are deleted, also custom resources", async () => {
    await both(async ({ client }) => {
      const owner = await make(client, configMaps, { ...key("bg-owner") });
      const child = await make(client, gears, { ...key("bg-child"), ownerReferences: [ownedBy(owner)] });
      await make(client, configMaps, { ...key("bg-grandchild"), ownerReferences: [ownedBy(child)] });
      await client.delete(configMaps, key("bg-owner"), { propagation: "Background" });
      await gone(client, configMaps, key("bg-grandchild"));
      return [await names(client, configMaps, namespace), await names(client, gears, namespace)];
    });
  }, 120_000);

  test("in the foreground: a blocking dependent with a finalizer delays the owner; then all are deleted", async () => {
    await both(async ({ client }) => {
      const owner = await make(client, configMaps, key("fg-owner"));
      const blocks = ownedBy(owner, { blockOwnerDeletion: true });
      await make(client, configMaps, { ...key("fg-slow"), ownerReferences: [blocks], finalizers: ["story.lattice.dev/slow"] });
      await make(client, configMaps, { ...key("fg-quick"), ownerReferences: [blocks] });
      await client.delete(configMaps, key("fg-owner"), { propagation: "Foreground" });
      await gone(client, configMaps, key("fg-quick"));
      const held = await Promise.all(
        ["fg-owner", "fg-slow"].map(async (name) => normal(expectOk(await client.get(configMaps, key(name))))),
      );
      await client.patch(configMaps, key("fg-slow"), { type: "merge", patch: { metadata: { finalizers: null } } });
      await gone(client, configMaps, key("fg-owner"));
      return [held, await names(client, configMaps, namespace)];
    });
  }, 120_000);

  test("as orphans: dependents of both kinds stay, without the owner reference", async () => {
    await both(async ({ client }) => {
      const [owner, other] = [await make(client, configMaps, key("o-owner")), await make(client, configMaps, key("o-other"))];
      await make(client, configMaps, { ...key("o-child"), ownerReferences: [ownedBy(owner), ownedBy(other)] });
      await make(client, gears, { ...key("o-gear"), ownerReferences: [ownedBy(owner)] });
      // dependents that the garbage collector has not observed are not orphaned
      for (const kind of [configMaps, gears]) await collectorCaughtUp(client, kind, namespace);
      await client.delete(configMaps, key("o-owner"), { propagation: "Orphan" });
      await gone(client, configMaps, key("o-owner"));
      return [normal(expectOk(await client.get(configMaps, key("o-child")))), normal(expectOk(await client.get(gears, key("o-gear"))))];
    });
  }, 120_000);

  test("absent owners: dependents are deleted, and those with another owner lose the reference", async () => {
    await both(async ({ client }) => {
      const owner = await make(client, configMaps, key("a-owner"));
      await make(client, configMaps, { ...key("a-kept"), ownerReferences: [GHOST, ownedBy(owner)] });
      await make(client, configMaps, { ...key("a-lost"), ownerReferences: [GHOST] });
      await make(client, configMaps, { ...key("a-wrong"), ownerReferences: [ownedBy(owner, { kind: "Secret" })] });
      await gone(client, configMaps, key("a-lost"));
      await gone(client, configMaps, key("a-wrong"));
      return eventually("one reference is left", async () => {
        const { ownerReferences } = expectOk(await client.get(configMaps, key("a-kept"))).metadata;
        return ownerReferences?.length === 1 ? normal(ownerReferences) : undefined;
      });
    });
  }, 120_000);

  test("an owner in another namespace counts as absent, and an event reports it", async () => {
    await both(async (side) => {
      const { client } = side;
      await makeNamespace(side, "kc-gc-2");
      const owner = await make(client, configMaps, key("x-owner"));
      await collectorCaughtUp(client, configMaps, namespace);
      await make(client, configMaps, { namespace: "kc-gc-2", name: "x-child", ownerReferences: [ownedBy(owner)] });
      await gone(client, configMaps, { namespace: "kc-gc-2", name: "x-child" });
      return eventually("the event", async () => {
        const reported = expectOk(await client.list(events, { namespace: "kc-gc-2" })).items;
        const found = reported.find((event) => event["reason"] === "OwnerRefInvalidNamespace");
        return found === undefined ? undefined : [found["type"], String(found["message"]).replace(owner.metadata.uid ?? "", "UID")];
      });
    });
  }, 120_000);
});

test("a terminating namespace reports remaining content in its conditions, with the same messages", async () => {
  await both(async (side) => {
    const { client } = side;
    const namespace = "kc-ending";
    await makeNamespace(side, namespace);
    for (const name of ["a", "b"]) await make(client, configMaps, { name, namespace, finalizers: ["story.lattice.dev/hold"] });
    await make(client, gears, { name: "g", namespace, finalizers: ["story.lattice.dev/hold"] });
    await make(client, secrets, { name: "s", namespace });
    await client.delete(namespaces, { name: namespace });
    const held = await eventually(
      "the conditions",
      async () => {
        const status = expectOk(await client.get(namespaces, { name: namespace }))["status"] as { conditions?: readonly Json[] };
        return (status.conditions ?? []).length === 5 ? normal(status) : undefined;
      },
      { withinMs: 60_000 },
    );
    const left = [await names(client, secrets, namespace), await names(client, accounts, namespace)];
    for (const [kind, name] of [
      [configMaps, "a"],
      [configMaps, "b"],
      [gears, "g"],
    ] as const) {
      await client.patch(kind, { name, namespace }, { type: "merge", patch: { metadata: { finalizers: null } } });
    }
    await gone(client, namespaces, { name: namespace });
    return [held, left];
  });
}, 180_000);

test("Services have the same EndpointSlices and Endpoints", async () => {
  await both(async (side) => {
    const { client } = side;
    const namespace = "kc-services";
    await makeNamespace(side, namespace);
    await make(client, nodes, { name: NODE, labels: { "topology.kubernetes.io/zone": "z1" } });
    const podNamed = async (name: string, ip: string, { ready = true, port = 8080, hostname = "" } = {}) => {
      const container = { name: "c", image: "i", ports: [{ name: "web", containerPort: port }] };
      const dns = hostname === "" ? {} : { hostname, subdomain: "headless" };
      const spec = { nodeName: NODE, containers: [container], tolerations: [FOREVER], ...dns };
      await make(client, pods, { name, namespace, labels: { app: "shop" } }, { spec });
      const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
      const patch = { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions } };
      expectOk(await client.patch(pods, { name, namespace }, { type: "merge", patch }, { subresource: "status" }));
    };
    await podNamed("a", "10.1.0.1", { hostname: "host-a" });
    await podNamed("b", "10.1.0.2", { ready: false });
    await podNamed("c", "10.1.0.3", { port: 9090 });
    const selector = { app: "shop" };
    const serve = (name: string, spec: object) =>
      make(client, services, { name, namespace, labels: { team: "shop" } }, { spec: { selector, ...spec } });
    await serve("by-name", {
      ports: [
        { name: "http", port: 80, targetPort: "web" },
        { name: "raw", port: 81, targetPort: 81, appProtocol: "h2c" },
      ],
    });
    await serve("headless", { clusterIP: "None", publishNotReadyAddresses: true, ports: [{ port: 80, targetPort: 8080 }] });
    await serve("no-ports", { clusterIP: "None" });
    await serve("close", { trafficDistribution: "PreferClose", ports: [{ port: 80, targetPort: 8080 }] });
    await serve("empty", { selector: { app: "empty" }, ports: [{ port: 80 }] });
    await client.delete(pods, { name: "c", namespace }, { gracePeriodSeconds: 300 });
    const count = async () => {
      const listed = expectOk(await client.list(slices, { namespace })).items;
      const all = listed.flatMap((slice) => (slice["endpoints"] ?? []) as readonly { conditions: { terminating?: boolean } }[]);
      return [all.length, all.filter(({ conditions }) => conditions.terminating).length];
    };
    await eventually(`all endpoints, ${side.name}`, async () => (expect(await count()).toEqual([12, 4]), true), { withinMs: 60_000 });
    await eventually("the old Endpoints", async () => {
      const found = expectOk(await client.get(endpoints, { name: "by-name", namespace }));
      return JSON.stringify(found).includes("10.1.0.3") ? undefined : true;
    });
    const state = await Promise.all(
      [slices, endpoints].map(async (kind) => normal(expectOk(await client.list(kind, { namespace })).items)),
    );
    await client.delete(services, { name: "by-name", namespace });
    await gone(client, endpoints, { name: "by-name", namespace });
    await eventually("its slices are deleted", async () => {
      const left = expectOk(await client.list(slices, { namespace, labelSelector: "kubernetes.io/service-name=by-name" })).items;
      return left.length === 0 || undefined;
    });
    return state;
  });
}, 180_000);

describe("nodes", () => {
  const namespace = "kc-nodes";
  const CONDITIONS = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
  const zone = { "topology.kubernetes.io/zone": "kc-nodes" };
  beforeAll(() => both((side) => makeNamespace(side, namespace)), 60_000);

  const reported = () => {
    const now = new Date().toISOString().replace(/\.[0-9]+Z$/, "Z");
    const truth = (type: string) => (type === "Ready" ? "True" : "False");
    return CONDITIONS.map((type) => ({ type, status: truth(type), reason: "Story", lastHeartbeatTime: now, lastTransitionTime: now }));
  };
  /** A node whose kubelet has reported once. */
  const makeNode = (client: KubeClient, name: string) =>
    make(client, nodes, { name, labels: zone }, { status: { conditions: reported() } });
  const makePod = async (client: KubeClient, name: string, spec: object) => {
    const metadata = { name, namespace, finalizers: ["story.lattice.dev/look"] };
    await make(client, pods, metadata, { spec: { containers: [{ name: "c", image: "i" }], ...spec } });
    const patch = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
    expectOk(await client.patch(pods, { name, namespace }, { type: "merge", patch }, { subresource: "status" }));
  };
  const podStatus = async (client: KubeClient, name: string) => {
    const { metadata, ...pod } = expectOk(await client.get(pods, { namespace, name }));
    return { isDeleted: metadata.deletionTimestamp !== undefined, status: normal(pod["status"]) as { readonly phase?: string } };
  };
  const release = (client: KubeClient, name: string) =>
    client.patch(pods, { namespace, name }, { type: "merge", patch: { metadata: { finalizers: null } } });

  test.concurrent("the Lease of a deleted Node is collected, and its Pods become Failed and are deleted", async () => {
    await both(async ({ client }) => {
      const node = await makeNode(client, "kc-deleted");
      const lease = { name: "kc-deleted", namespace: "kube-node-lease" };
      await make(client, leases, { ...lease, ownerReferences: [ownedBy(node)] }, { spec: { holderIdentity: "kc-deleted" } });
      await makePod(client, "orphan", { nodeName: "kc-deleted" });
      expectOk(await client.delete(nodes, { name: "kc-deleted" }));
      await gone(client, leases, lease);
      const state = await eventually(
        "the Pod is collected",
        async () => {
          const { isDeleted, status } = await podStatus(client, "orphan");
          return isDeleted ? status : undefined;
        },
        { withinMs: 120_000 },
      );
      await release(client, "orphan");
      await gone(client, pods, { name: "orphan", namespace });
      return state;
    });
  }, 180_000);

  test.concurrent("a Node without heartbeats becomes Unknown and is tainted; its Pods become unready and are evicted by their tolerations", async () => {
    await both(async ({ client }) => {
      const renewTime = () => new Date().toISOString().replace(/Z$/, "000Z");
      // when most nodes of a zone are silent, the real controller suspects itself and evicts nothing
      const others = ["kc-other-1", "kc-other-2"];
      for (const name of others) {
        await makeNode(client, name);
        await make(client, leases, { name, namespace: "kube-node-lease" }, { spec: { holderIdentity: name, renewTime: renewTime() } });
      }
      await makeNode(client, "kc-silent");
      await makePod(client, "stays", { nodeName: "kc-silent", tolerations: [FOREVER] });
      await makePod(client, "leaves", { nodeName: "kc-silent", tolerations: [{ ...FOREVER, tolerationSeconds: 2 }] });
      const evicted = await eventually(
        "a Pod is evicted",
        async () => {
          for (const name of others) {
            const key = { name, namespace: "kube-node-lease" };
            expectOk(await client.patch(leases, key, { type: "merge", patch: { spec: { renewTime: renewTime() } } }));
          }
          const { isDeleted, status } = await podStatus(client, "leaves");
          return isDeleted ? status : undefined;
        },
        { withinMs: 150_000 },
      );
      const node = expectOk(await client.get(nodes, { name: "kc-silent" }));
      const { taints } = node["spec"] as { readonly taints: readonly { readonly key: string; readonly effect: string }[] };
      const { conditions } = node["status"] as { readonly conditions: readonly Readonly<Record<string, string>>[] };
      const state = [
        evicted,
        await podStatus(client, "stays"),
        taints.map(({ key, effect }) => `${key}:${effect}`).toSorted(),
        conditions.map(({ type, status, reason, message }) => [type, status, reason, message].join(" ")).toSorted(),
      ];
      for (const name of ["stays", "leaves"]) {
        await release(client, name);
        await client.delete(pods, { name, namespace }, { gracePeriodSeconds: 0 });
      }
      for (const name of [...others, "kc-silent"]) await client.delete(nodes, { name });
      return state;
    });
  }, 240_000);
});

test("disruption budgets and aggregated roles have the same state", async () => {
  await both(async (side) => {
    const { client } = side;
    const namespace = "kc-budgets";
    await makeNamespace(side, namespace);
    const labels = { app: "shop" };
    await make(client, budgets, { name: "b", namespace }, { spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    for (const name of ["a", "b"]) {
      await make(client, pods, { name, namespace, labels }, { spec: { containers: [{ name: "c", image: "i" }] } });
      const patch = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
      expectOk(await client.patch(pods, { name, namespace }, { type: "merge", patch }, { subresource: "status" }));
    }
    const allowed = await eventually("a disruption is allowed", async () => {
      const { status } = expectOk(await client.get(budgets, { name: "b", namespace }));
      return isJsonObject(status) && status["disruptionsAllowed"] === 1 ? normal(status) : undefined;
    });
    const rule = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
    await make(
      client,
      roles,
      { name: "kc-all" },
      { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { kc: "yes" } }] }, rules: [] },
    );
    await make(client, roles, { name: "kc-b", labels: { kc: "yes" } }, { rules: [rule("pods"), rule("nodes")] });
    await make(client, roles, { name: "kc-a", labels: { kc: "yes" } }, { rules: [rule("nodes")] });
    // before kc-a is observed there are two rules in the order of kc-b
    const gathered = await eventually("the rules, in the order of the roles' names", async () => {
      const { rules } = expectOk(await client.get(roles, { name: "kc-all" }));
      const resources = (Array.isArray(rules) ? rules : []).map((one) => field(one, "resources"));
      return JSON.stringify(resources) === '[["nodes"],["pods"]]' ? rules : undefined;
    });
    return [allowed, gathered];
  });
}, 120_000);

test("the controllers continue after a restart of the API server, and do not write without a change", async () => {
  const [ours] = sides;
  const client = ours?.client ?? expect.fail("no side");
  await ownPlane.restartApiServer();
  const owner = await make(client, configMaps, { name: "after", namespace: "kc-gc" });
  await make(client, configMaps, { name: "after-child", namespace: "kc-gc", ownerReferences: [ownedBy(owner)] });
  await eventually(
    "the owner is deleted",
    async () => (await client.delete(configMaps, { name: "after", namespace: "kc-gc" })).ok || undefined,
  );
  await gone(client, configMaps, { name: "after-child", namespace: "kc-gc" });
  // no kubelet reports kc-node: a minute after its creation its Pods become unready, and those writes have a cause
  await eventually(
    "the Pods of kc-node are unready",
    async () => {
      const namespace = "kc-services";
      const sliced = JSON.stringify(expectOk(await client.list(slices, { namespace })).items);
      const old = JSON.stringify(expectOk(await client.get(endpoints, { namespace, name: "close" })));
      return sliced.includes('"serving":true') || old.includes('"addresses":') ? undefined : true;
    },
    { withinMs: 90_000 },
  );
  await running.idle();
  const before = expectOk(await client.list(configMaps, { limit: 1 })).metadata.resourceVersion;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const all = await Promise.all(
    [configMaps, slices, endpoints, budgets, namespaces, pods].map(async (kind) => expectOk(await client.list(kind)).items),
  );
  expect(all.flat().filter(({ metadata }) => BigInt(metadata.resourceVersion ?? "0") > BigInt(before))).toEqual([]);
}, 180_000);
