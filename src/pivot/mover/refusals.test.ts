/** Moves that are refused: each with its reason, and with both API servers as they were before, or as they are again. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { failWith, startEmbeddedCluster } from "#embedded-cluster";
import {
  capiClusters,
  capiMachines,
  capiProviders,
  configMaps,
  customResourceDefinitions,
  devMachines,
  fieldAt,
  kubeadmControlPlanes,
  leases,
  namespaces,
  secrets,
  type Json,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";
import { contentsOf, isUnpaused, makeProvisioned, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { moveNamespace, type MoveOptions } from "./move-namespace.ts";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(0);
  onTestFinished(() => world.close());
});

type Side = "source" | "target";
type Subresource = "status" | undefined;

async function change(side: Side, resource: Resource, name: string, patch: Json, subresource?: Subresource): Promise<void> {
  const namespace = !resource.namespaced ? undefined : resource === capiProviders ? "capd-system" : "c1";
  const options = { fieldManager: "person", ...(subresource === undefined ? {} : { subresource }) };
  expectOk(await world[side].client.patch<KubeObject>(resource, { namespace, name }, { type: "merge", patch }, options));
}
const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "c1" },
  data,
});
const addNamespace = () => world.target.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } });
const record = (state: string, id = "other") =>
  configMap("lattice-move-record", {
    id,
    state,
    source: "another cluster",
    epoch: "1",
    startedAt: "",
    digest: "",
    finishedAt: "",
    objects: "0",
    attempt: "1",
  });
const journal = (content: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "lattice-move-journal", namespace: "c1", labels: { "lattice.dev/move-journal": "head" } },
  data: { journal: Buffer.from(content).toString("base64") },
});
const uidOf = (resource: Resource, name: string) => world.source.peek<KubeObject>(resource, { namespace: "c1", name })?.metadata.uid ?? "";
const ownersOf = (resource: Resource, name: string) =>
  (world.source.peek<KubeObject>(resource, { namespace: "c1", name })?.metadata.ownerReferences ?? []) as unknown as Json[];

type Row = {
  readonly name: string;
  readonly given: () => Promise<unknown>;
  readonly options?: () => Partial<MoveOptions>;
  readonly want: string;
  readonly kind?: "failed" | "held";
  /** Found only after the source was paused: the move has undone what it had done. */
  readonly rolledBack?: true;
};

const notReady = (status: JsonObject) => () => change("source", capiClusters, "c1", { status }, "status");

const rows: readonly Row[] = [
  {
    name: "a provider is missing in the target",
    given: () => world.target.client.delete(capiProviders, { namespace: "capd-system", name: "infrastructure-docker" }),
    want: "the target has no provider infrastructure-docker; install it there in version ",
  },
  {
    name: "a provider is older in the target",
    given: () => change("target", capiProviders, "infrastructure-docker", { version: "v1.0.0" }),
    want: "provider infrastructure-docker is older in the target (v1.0.0) than in the source",
  },
  {
    name: "the version of a provider cannot be compared",
    given: () => change("target", capiProviders, "infrastructure-docker", { version: "latest" }),
    want: 'provider infrastructure-docker: the version "latest" or ',
  },
  {
    name: "a definition has no label",
    given: () =>
      change("source", customResourceDefinitions, "devmachines.infrastructure.cluster.x-k8s.io", {
        metadata: { labels: { "clusterctl.cluster.x-k8s.io": null } },
      }),
    want: "DevMachine c1/c1-cp-1 is owned by Machine c1-cp-1 and would be lost: the definition of its kind has no label clusterctl.cluster.x-k8s.io; add the label",
  },
  {
    name: "a kind is not served by the target",
    given: () => world.target.client.delete(customResourceDefinitions, { name: "machines.cluster.x-k8s.io" }),
    want: "the target does not serve machines.cluster.x-k8s.io in version v1beta2; install or upgrade its provider there",
  },
  {
    name: "an object has an owner that is not moved",
    given: () =>
      change("source", capiMachines, "c1-cp-1", {
        metadata: { ownerReferences: [...ownersOf(capiMachines, "c1-cp-1"), { apiVersion: "v1", kind: "Pod", name: "p", uid: "gone" }] },
      }),
    want: "Machine c1/c1-cp-1 is owned by Pod p, which is not of a kind that is moved; remove the owner reference, or label its kind for the move",
  },
  {
    name: "owners form a circle",
    given: () => {
      const uid = uidOf(devMachines, "c1-cp-1");
      const owner = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "DevMachine", name: "c1-cp-1", uid };
      return change("source", capiMachines, "c1-cp-1", { metadata: { ownerReferences: [...ownersOf(capiMachines, "c1-cp-1"), owner] } });
    },
    want: "c1/c1-cp-1 owns itself through its owner references; remove one of them",
  },
  {
    name: "a reference leads nowhere",
    given: () => world.source.client.delete(secrets, { namespace: "c1", name: "bootstrap-token" }),
    want: "KubeadmControlPlane c1/c1-cp refers to Secret bootstrap-token in ",
  },
  {
    name: "a ClusterClass is in another namespace",
    given: () =>
      change("source", capiClusters, "c1", { spec: { topology: { classRef: { name: "k", namespace: "classes" }, version: "v1.36.3" } } }),
    want: "Cluster c1/c1 uses a ClusterClass of namespace classes; classes of other namespaces are not moved: copy the class first",
  },
  {
    name: "the infrastructure is not provisioned",
    given: notReady({ initialization: { infrastructureProvisioned: false } }),
    want: "the infrastructure of Cluster c1/c1 is not provisioned yet; wait until it is",
  },
  {
    name: "the control plane is not initialized",
    given: notReady({ initialization: { controlPlaneInitialized: false } }),
    want: "the control plane of Cluster c1/c1 is not initialized yet; wait until it is",
  },
  {
    name: "a Machine has no node",
    given: () => change("source", capiMachines, "c1-cp-1", { status: { nodeRef: null } }, "status"),
    want: "Machine c1/c1-cp-1 has no node yet; wait until it has, or delete the machine",
  },
  {
    name: "a Cluster is being deleted",
    given: () => world.source.client.delete(capiClusters, { namespace: "c1", name: "c1" }),
    want: "Cluster c1/c1 is being deleted; it is finished at the source, not moved",
  },
  {
    name: "a Machine is being deleted for too long",
    given: () => world.source.client.delete(capiMachines, { namespace: "c1", name: "c1-cp-1" }),
    want: "Machine c1/c1-cp-1 is still being deleted; it is finished at the source, not copied",
  },
  {
    name: "the target has an object of the same name",
    given: async () => {
      await addNamespace();
      await world.target.add({ apiVersion: "v1", kind: "Secret", metadata: { name: "c1-ca", namespace: "c1" }, data: {} });
    },
    want: "Secret c1/c1-ca exists at the target already; delete it there, or move into another API server",
  },
  {
    name: "the namespace of the target is being deleted",
    given: async () => {
      await addNamespace();
      await world.target.client.patch(
        namespaces,
        { name: "c1" },
        { type: "merge", patch: { metadata: { finalizers: ["example.com/hold"] } } },
      );
      await world.target.client.delete(namespaces, { name: "c1" });
    },
    want: "Namespace c1 of the target is being deleted",
    rolledBack: true,
  },
  {
    name: "the namespace of the source is being deleted",
    given: async () => {
      await world.source.client.patch(
        namespaces,
        { name: "c1" },
        { type: "merge", patch: { metadata: { finalizers: ["example.com/hold"] } } },
      );
      await world.source.client.delete(namespaces, { name: "c1" });
    },
    want: "Namespace c1 of the source is being deleted; nothing of it is moved",
  },
  {
    name: "the source has no such namespace",
    given: () => Promise.resolve(),
    options: () => ({ namespace: "absent" }),
    want: "the source has no namespace absent; name another one with -n",
  },
  {
    name: "both kubeconfigs lead to one cluster",
    given: () => Promise.resolve(),
    options: () => ({ target: world.source.client }),
    want: "both kubeconfigs lead to the same cluster; there is nothing to move",
  },
  {
    name: "the source has no Cluster API",
    given: () => Promise.resolve(),
    options: () => ({ source: bare, namespace: "default" }),
    want: "the source has no definition of Cluster with label clusterctl.cluster.x-k8s.io; is Cluster API installed there?",
  },
  {
    name: "two Clusters, where a pivot moves one",
    given: async () => {
      await world.source.add({
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: { name: "c2", namespace: "c1" },
        spec: {},
      });
      const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true }, conditions: INITIALIZED };
      await change("source", capiClusters, "c2", { status }, "status");
    },
    options: () => ({ onlyCluster: "c1" }),
    want: "Cluster c1/c2 is in the namespace of Cluster c1; a pivot moves one Cluster: delete it from namespace c1, or move it elsewhere",
  },
  {
    name: "the target receives another move",
    given: async () => {
      await addNamespace();
      await world.target.add(record("receiving"));
    },
    want: "the target is receiving another move (other); finish or abort that one first",
    rolledBack: true,
  },
  {
    name: "the source itself receives a move",
    given: () => world.source.add(record("receiving")),
    want: "the source is itself receiving namespace c1 (move other); finish or abort that move first",
  },
  {
    name: "the target has an unfinished move of its own",
    given: async () => {
      await addNamespace();
      await world.target.add(journal('{"id":"away","pausables":[]}'));
    },
    want: "the target has an unfinished move of namespace c1 (move away); finish or abort that one first",
  },
  {
    name: "an unfinished move goes to another target",
    given: () => world.source.add(journal('{"id":"one","pausables":[],"phase":"intent","target":"elsewhere"}')),
    want: "an unfinished move of this namespace goes to another target; finish or abort that one first",
  },
  {
    name: "the journal is damaged",
    given: () => world.source.add(journal("not a journal")),
    want: "Secret c1/lattice-move-journal is no journal of a move; it was changed by something else, so the state of the move is not known",
  },
  {
    name: "the record of the target is none",
    given: async () => {
      await addNamespace();
      await world.target.add(configMap("lattice-move-record", { a: "b" }));
    },
    want: "ConfigMap c1/lattice-move-record of the target is no record of a move; delete it if nothing uses it",
  },
  {
    name: "the record is changed by something else",
    given: () => {
      world.target.intercept({ verb: "create", resource: "configmaps", times: 1 }, async (_action, next) => {
        const answer = await next();
        await change("target", configMaps, "lattice-move-record", { data: { id: "changed" } });
        return answer;
      });
      return Promise.resolve();
    },
    want: "the record of the move at the target, ConfigMap c1/lattice-move-record, was changed by something else; run the command again",
    rolledBack: true,
  },
  {
    name: "an object blocks the move for ever",
    given: () => change("source", capiMachines, "c1-cp-1", { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": "" } } }),
    want: "Machine c1/c1-cp-1 still has annotation clusterctl.cluster.x-k8s.io/block-move; its provider has not released it",
    rolledBack: true,
  },
  {
    name: "a Cluster appears under the plan",
    given: () => {
      const before = { verb: "create", resource: "machines", times: 1 } as const;
      world.target.intercept(before, async (_action, next) => {
        await world.source.add({
          apiVersion: "cluster.x-k8s.io/v1beta2",
          kind: "Cluster",
          metadata: { name: "c2", namespace: "c1" },
          spec: {},
        });
        return next();
      });
      return Promise.resolve();
    },
    want: "Cluster c1/c2 has appeared since the move began; delete it, or abort the move and begin again",
    rolledBack: true,
  },
  {
    name: "an object changes all the time under the plan",
    given: () => Promise.resolve(),
    options: () => {
      let edits = 0;
      const edit = () => change("source", kubeadmControlPlanes, "c1-cp", { metadata: { labels: { edit: String((edits += 1)) } } });
      return { report: ({ done }) => void (done !== undefined && void edit()) };
    },
    want: "the objects at the source keep changing although they are paused; find what writes them, then run the command again",
    rolledBack: true,
  },
  {
    name: "an object appears at the target under the plan",
    given: () => {
      world.target.intercept({ verb: "create", resource: "clusters", times: 1 }, async (_action, next) => {
        await world.target.add({ apiVersion: "v1", kind: "Secret", metadata: { name: "c1-ca", namespace: "c1" }, data: {} });
        return next();
      });
      return Promise.resolve();
    },
    want: "Secret c1/c1-ca exists at the target already; delete it there, or move into an API server without it",
    rolledBack: true,
  },
  {
    name: "another process moves the namespace",
    given: () =>
      world.source.add({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "lattice-move", namespace: "c1" },
        spec: { holderIdentity: "laptop-1", leaseDurationSeconds: 600, acquireTime: "2026-01-01T00:00:00.000000Z", leaseTransitions: 1 },
      }),
    options: () => ({
      onWait: () => void change("source", leases, "lattice-move", { spec: { renewTime: "2026-01-01T00:01:00.000000Z" } }),
    }),
    want: "namespace c1 is being moved by laptop-1 since 2026-01-01T00:00:00.000000Z; wait until that move has ended",
    kind: "held",
  },
  {
    name: "the target refuses a write",
    given: () => {
      world.target.intercept({ verb: "create", resource: "namespaces", times: 1 }, failWith("forbidden"));
      return Promise.resolve();
    },
    want: "the target could not create Namespace c1: ",
    kind: "failed",
  },
];

const INITIALIZED = [
  { type: "ControlPlaneInitialized", status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
];
let bare: MoveOptions["source"];

describe("refused, with the reason, and nothing is changed", () => {
  test.for(rows)("$name", { timeout: 60_000 }, async ({ given, options, want, kind = "refused", rolledBack }) => {
    const empty = await startEmbeddedCluster({ seed: 31, logActions: false });
    onTestFinished(() => empty.close());
    bare = empty.client;
    await given();
    const before = await everything();
    const result = await moveNamespace({ ...defaults(), ...options?.() });
    const failure = result.ok ? expect.fail("not refused") : result.error;
    expect(failure.kind).toBe(kind);
    expect([failure.message, ...(failure.reasons ?? [])].join("\n")).toContain(want);
    expect(failure.message.includes("the move was rolled back")).toBe(rolledBack === true);
    if (kind === "refused") expect(await everything()).toEqual(await withChangesOf(before));
  });
});

test("Clusters that were paused before are not refused: they are moved, and stay paused", async () => {
  await change("source", capiClusters, "c1", { spec: { paused: true } });
  expect(expectOk(await moveNamespace(defaults())).stillPaused).toEqual(["Cluster c1"]);
  expect(fieldAt(world.target.peek<KubeObject>(capiClusters, { namespace: "c1", name: "c1" }), "spec", "paused")).toBe(true);
});

test("several Clusters of a namespace are moved together, as by clusterctl", async () => {
  await makeProvisioned(world.source.client, "c2", 0);
  await world.source.add({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "c9", namespace: "c2" }, spec: {} });
  const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true }, conditions: INITIALIZED };
  const key = { namespace: "c2", name: "c9" };
  expectOk(await world.source.client.patch(capiClusters, key, { type: "merge", patch: { status } }, { subresource: "status" }));
  expectOk(await moveNamespace({ ...defaults(), namespace: "c2" }));
  for (const name of ["c2", "c9"]) expect(world.target.peek(capiClusters, { namespace: "c2", name }), name).toBeDefined();
  expect(isUnpaused(world.source, "c1")).toBe(true);
});

const defaults = (): MoveOptions => ({
  source: world.source.client,
  target: world.target.client,
  namespace: "c1",
  identity: "test-1",
  clock: systemClock,
  random: seededRandom(1),
  signal: new AbortController().signal,
  waitMs: 50,
  leaseMs: 600_000,
  onWait: () => {},
  report: () => {},
});

/** All objects of both sides; also journals, records, and whether the clusters are paused. */
async function everything(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const side of ["source", "target"] as const) {
    for (const [name, object] of await contentsOf(world[side].client, "c1")) found[`${side} ${name}`] = withoutTraces(object);
    for (const resource of [secrets, configMaps]) {
      const list = expectOk(await world[side].client.list<KubeObject>(resource, { namespace: "c1" }));
      for (const { metadata, ...rest } of list.items)
        if (metadata.name.startsWith("lattice-move")) found[`${side} ${resource.kind} ${metadata.name}`] = rest;
    }
  }
  return found;
}

/** Field managers of the pause, and generations, which the pause changes. */
function withoutTraces(value: unknown): unknown {
  const hidden = new Set(["observedGeneration", "managedFields", "edit"]);
  return JSON.parse(JSON.stringify(value ?? null, (name, inner: unknown) => (hidden.has(name) ? undefined : inner)));
}

/** What the row itself has added while the move ran. */
async function withChangesOf(before: Record<string, unknown>): Promise<Record<string, unknown>> {
  const after = await everything();
  const own = ["source Cluster c1/c2", "target Secret c1/c1-ca", "target ConfigMap lattice-move-record"];
  return { ...before, ...Object.fromEntries(own.filter((name) => name in after).map((name) => [name, after[name]])) };
}
