/** Pivots that are refused, between two embedded clusters: each has its reason in the condition Pivoting, and the parent owns the objects. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { NO_CHANGES, waiting } from "#controller-runtime";
import { clusterController, type PivotView } from "#controllers";
import {
  capiClusters,
  capiMachines,
  capiProviders,
  customResourceDefinitions,
  devMachines,
  fieldAt,
  namespaces,
  secrets,
  type Json,
  type KubeObject,
  type NewCondition,
  type Resource,
} from "#kube";
import { isUnpaused } from "../../../../test/builders/move-world.ts";
import { childCluster, observedChild } from "../../../../test/builders/observed-child.ts";
import { CAPI, isWaiting, PivotWorld, untilView, type Side } from "./pivot-world.test-support.ts";

const DOCKER = { namespace: "capd-system", name: "infrastructure-docker" };
const MACHINE = { namespace: CAPI, name: "prod-cp-1" };
const PROD = { namespace: CAPI, name: "prod" };
const READY = { infrastructureProvisioned: true, controlPlaneInitialized: true };

type Row = {
  readonly name: string;
  readonly given: (world: RefusingWorld) => Promise<unknown> | void;
  readonly want: string;
  /** By a person. */
  readonly isPaused?: true;
};

/** What a person, or another program, does before the pivot. */
class RefusingWorld {
  readonly world: PivotWorld;

  constructor(world: PivotWorld) {
    this.world = world;
  }

  async patch(side: Side, resource: Resource, key: { namespace?: string; name: string }, patch: Json, subresource?: "status") {
    const options = { fieldManager: "person", ...(subresource === undefined ? {} : { subresource }) };
    expectOk(await this.world[side].client.patch<KubeObject>(resource, key, { type: "merge", patch }, options));
  }

  delete(side: Side, resource: Resource, key: { namespace?: string; name: string }) {
    return this.world[side].client.delete(resource, key);
  }

  async add(side: Side, kind: string, name: string, more: object) {
    if (side === "child") await this.addNamespace();
    const apiVersion = kind === "Cluster" ? "cluster.x-k8s.io/v1beta2" : "v1";
    await this.world[side].add({ apiVersion, kind, metadata: { name, namespace: CAPI }, ...more });
  }

  async addNamespace() {
    await this.world.child.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: CAPI } });
  }

  async deleteNamespace(side: Side) {
    if (side === "child") await this.addNamespace();
    await this.patch(side, namespaces, { name: CAPI }, { metadata: { finalizers: ["example.com/hold"] } });
    await this.delete(side, namespaces, { name: CAPI });
  }

  addJournal(side: Side, content: string) {
    const data = { journal: Buffer.from(content).toString("base64") };
    const labels = { "lattice.dev/move-journal": "head" };
    return this.add(side, "Secret", "lattice-move-journal", {
      metadata: { name: "lattice-move-journal", namespace: CAPI, labels },
      data,
    });
  }

  async addOwner(owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }) {
    const { ownerReferences = [] } = this.world.parent.peek<KubeObject>(capiMachines, MACHINE)?.metadata ?? {};
    await this.patch("parent", capiMachines, MACHINE, { metadata: { ownerReferences: [...ownerReferences, owner] as unknown as Json } });
  }

  uidOf(resource: Resource, key: { namespace: string; name: string }): string {
    return this.world.parent.peek<KubeObject>(resource, key)?.metadata.uid ?? "";
  }
}

const RECORD = { id: "other", state: "receiving", source: "another cluster", epoch: "1", startedAt: "", digest: "" };
const record = { data: { ...RECORD, finishedAt: "", objects: "0", attempt: "1" } };
const initialization = (change: object) => ({ status: { initialization: { ...READY, ...change } } });

const rows: readonly Row[] = [
  {
    name: "a person has paused the Cluster",
    given: (refusing) => refusing.patch("parent", capiClusters, PROD, { spec: { paused: true } }),
    want: "Cluster capi-prod/prod is paused; set spec.paused to false there, and its pivot begins",
    isPaused: true,
  },
  {
    name: "a provider is missing in the child",
    given: (refusing) => refusing.delete("child", capiProviders, DOCKER),
    want: "the target has no provider infrastructure-docker; install it there in version ",
  },
  {
    name: "a provider is older in the child",
    given: (refusing) => refusing.patch("child", capiProviders, DOCKER, { version: "v1.0.0" }),
    want: "provider infrastructure-docker is older in the target (v1.0.0) than in the source",
  },
  {
    name: "the version of a provider cannot be compared",
    given: (refusing) => refusing.patch("child", capiProviders, DOCKER, { version: "latest" }),
    want: 'provider infrastructure-docker: the version "latest" or ',
  },
  {
    name: "a definition has no label",
    given: (refusing) =>
      refusing.patch(
        "parent",
        customResourceDefinitions,
        { name: "devmachines.infrastructure.cluster.x-k8s.io" },
        { metadata: { labels: { "clusterctl.cluster.x-k8s.io": null } } },
      ),
    want: "would be lost: the definition of its kind has no label clusterctl.cluster.x-k8s.io; add the label",
  },
  {
    name: "a kind is not served by the child",
    given: (refusing) => refusing.delete("child", customResourceDefinitions, { name: "machines.cluster.x-k8s.io" }),
    want: "the target does not serve machines.cluster.x-k8s.io in version v1beta2; install or upgrade its provider there",
  },
  {
    name: "an object has an owner that is not moved",
    given: (refusing) => refusing.addOwner({ apiVersion: "v1", kind: "Pod", name: "p", uid: "gone" }),
    want: "Machine capi-prod/prod-cp-1 is owned by Pod p, which is not of a kind that is moved; remove the owner reference",
  },
  {
    name: "owners form a circle",
    given: (refusing) =>
      refusing.addOwner({
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "DevMachine",
        name: "prod-cp-1",
        uid: refusing.uidOf(devMachines, MACHINE),
      }),
    want: "capi-prod/prod-cp-1 owns itself through its owner references; remove one of them",
  },
  {
    name: "a reference leads nowhere",
    given: (refusing) => refusing.delete("parent", secrets, { namespace: CAPI, name: "bootstrap-token" }),
    want: "KubeadmControlPlane capi-prod/prod-cp refers to Secret bootstrap-token in ",
  },
  {
    name: "a ClusterClass is in another namespace",
    given: (refusing) =>
      refusing.patch("parent", capiClusters, PROD, {
        spec: { topology: { classRef: { name: "k", namespace: "classes" }, version: "v1.36.3" } },
      }),
    want: "Cluster capi-prod/prod uses a ClusterClass of namespace classes; classes of other namespaces are not moved: copy the class first",
  },
  {
    name: "the infrastructure is not provisioned",
    given: (refusing) => refusing.patch("parent", capiClusters, PROD, initialization({ infrastructureProvisioned: false }), "status"),
    want: "the infrastructure of Cluster capi-prod/prod is not provisioned yet; wait until it is",
  },
  {
    name: "the control plane is not initialized",
    given: (refusing) => refusing.patch("parent", capiClusters, PROD, initialization({ controlPlaneInitialized: false }), "status"),
    want: "the control plane of Cluster capi-prod/prod is not initialized yet; wait until it is",
  },
  {
    name: "a Machine has no node",
    given: (refusing) => refusing.patch("parent", capiMachines, MACHINE, { status: { nodeRef: null } }, "status"),
    want: "Machine capi-prod/prod-cp-1 has no node yet; wait until it has, or delete the machine",
  },
  {
    name: "the Cluster is being deleted",
    given: (refusing) => refusing.delete("parent", capiClusters, PROD),
    want: "Cluster capi-prod/prod is being deleted; it is finished at the source, not moved",
  },
  {
    name: "the child has an object of the same name",
    given: (refusing) => refusing.add("child", "Secret", "prod-ca", { data: {} }),
    want: "Secret capi-prod/prod-ca exists at the target already; delete it there, or move into another API server",
  },
  {
    name: "the namespace of the child is being deleted",
    given: (refusing) => {
      // after the agent has prepared it
      refusing.world.child.intercept({ verb: "get", resource: "latticeclusters", times: 1 }, async (_action, next) => {
        await refusing.deleteNamespace("child");
        return next();
      });
    },
    want: "Namespace capi-prod of the target is being deleted",
  },
  {
    name: "the namespace of the parent is being deleted",
    given: (refusing) => refusing.deleteNamespace("parent"),
    want: "Namespace capi-prod of the source is being deleted; nothing of it is moved",
  },
  {
    name: "two Clusters are in the namespace",
    given: async (refusing) => {
      await refusing.add("parent", "Cluster", "c2", { spec: {} });
      await refusing.patch("parent", capiClusters, { namespace: CAPI, name: "c2" }, initialization({}), "status");
    },
    want: "Cluster capi-prod/c2 is in the namespace of Cluster prod; a pivot moves one Cluster: delete it from namespace capi-prod, or move it",
  },
  {
    name: "the child receives another move",
    given: (refusing) => refusing.add("child", "ConfigMap", "lattice-move-record", record),
    want: "the target is receiving another move (other); finish or abort that one first",
  },
  {
    name: "the parent itself receives a move",
    given: (refusing) => refusing.add("parent", "ConfigMap", "lattice-move-record", record),
    want: "the source is itself receiving namespace capi-prod (move other); finish or abort that move first",
  },
  {
    name: "the child has an unfinished move of its own",
    given: (refusing) => refusing.addJournal("child", '{"id":"away","pausables":[]}'),
    want: "the target has an unfinished move of namespace capi-prod (move away); finish or abort that one first",
  },
  {
    name: "an unfinished move goes to another cluster",
    given: (refusing) => refusing.addJournal("parent", '{"id":"one","pausables":[],"phase":"intent","target":"elsewhere"}'),
    want: "an unfinished move of this namespace goes to another target; finish or abort that one first",
  },
  {
    name: "the journal is damaged",
    given: (refusing) => refusing.addJournal("parent", "not a journal"),
    want: "Secret capi-prod/lattice-move-journal is no journal of a move; it was changed by something else",
  },
  {
    name: "the record of the child is none",
    given: (refusing) => refusing.add("child", "ConfigMap", "lattice-move-record", { data: { a: "b" } }),
    want: "ConfigMap capi-prod/lattice-move-record of the target is no record of a move; delete it if nothing uses it",
  },
  {
    name: "a Cluster appears under the plan",
    given: (refusing) => {
      refusing.world.child.intercept({ verb: "create", resource: "machines", times: 1 }, async (_action, next) => {
        await refusing.add("parent", "Cluster", "c2", { spec: {} });
        return next();
      });
    },
    want: "Cluster capi-prod/c2 has appeared since the move began; delete it, or abort the move and begin again",
  },
  {
    name: "an object appears in the child under the plan",
    given: (refusing) => {
      refusing.world.child.intercept({ verb: "create", resource: "clusters", times: 1 }, async (_action, next) => {
        await refusing.add("child", "Secret", "prod-ca", { data: {} });
        return next();
      });
    },
    want: "Secret capi-prod/prod-ca exists at the target already; delete it there, or move into an API server without it",
  },
  {
    name: "the agent cannot prepare the child",
    given: (refusing) => void (refusing.world.refusal = "ServiceAccount lattice-cluster-api does not exist"),
    want: "the agent cannot prepare the cluster: ServiceAccount lattice-cluster-api does not exist",
  },
];

/** As the cluster controller writes it. */
function pivotingCondition(pivot: PivotView): NewCondition | undefined {
  const outcome = waiting("Pivoting", 1, "");
  const { status } = clusterController;
  const written = status?.(childCluster(), observedChild({ pivot, now: systemClock.now() }), {
    outcome,
    changes: NO_CHANGES,
    details: undefined,
  });
  return written?.conditions?.find(({ type }) => type === "Pivoting");
}

test.for(rows)("refused, with the reason in the condition: $name", async ({ given, want, isPaused = false }) => {
  const world = await PivotWorld.open({ workers: "fewest" });
  onTestFinished(() => world.close());
  await given(new RefusingWorld(world));
  const runner = world.runner();
  runner.start(await world.cluster());
  const condition = pivotingCondition(await untilView(runner, isWaiting));
  expect(condition).toMatchObject({ status: "False", reason: "PivotRefused", message: expect.stringContaining(want) as string });
  expect(world.ownership("child").state).not.toBe("owner");
  expect(isUnpaused(world.child, "prod", CAPI)).toBe(false);
  expect(fieldAt(world.parent.peek<KubeObject>(capiClusters, PROD), "spec", "paused") === true).toBe(isPaused);
});
