import { expect, expectTypeOf, test } from "vitest";
import { err, map, ok, type Result } from "#base";
import { defineResource, type KubeObject } from "#kube";
import { index } from "./cache.ts";
import { defineController, nothing, watch, type Plan, type PlanError } from "./controller.ts";
import { settled, type ReconcileOutcome } from "./outcome.ts";

/* A small cluster controller with minimal types. */
type LatticeCluster = KubeObject & { readonly spec: { readonly nodes: number } };
type Observed = { readonly ownedBy: "self" | "parent"; readonly phase: Phase };
type Phase = "Pending" | "Provisioning" | "Pivoting" | "Ready" | "Failed" | "Deleting" | "Unpivoting";
type Command = { readonly kind: "start-pivot" | "start-unpivot"; readonly cluster: string };
type Shared = { readonly link: { send(command: Command): Promise<void> } };

const resource = (kind: string) =>
  defineResource<KubeObject>({ group: "cluster.x-k8s.io", version: "v1beta2", kind, plural: kind.toLowerCase(), namespaced: true });
const latticeCluster = defineResource<LatticeCluster>({
  group: "lattice.dev",
  version: "v1alpha1",
  kind: "LatticeCluster",
  plural: "latticeclusters",
  namespaced: false,
});
const [capiCluster, kubeadmControlPlane, machineDeployment] = [resource("Cluster"), resource("KCP"), resource("MD")];
const phaseOf = (_cluster: LatticeCluster, observed: Observed) => observed.phase;
const compileCluster = (cluster: LatticeCluster): Result<readonly KubeObject[], { kind: "compile-error"; message: string }> =>
  cluster.spec.nodes > 0 ? ok([cluster]) : err({ kind: "compile-error", message: "no nodes" });
const observe = async (): Promise<Result<Observed, never>> => ok({ ownedBy: "self", phase: "Ready" });
const perform = async (command: Command, { link }: Shared): Promise<ReconcileOutcome> => (await link.send(command), settled);
const status = (_cluster: LatticeCluster, observed: Observed) => ({ phase: observed.phase });

export const clusterController = defineController<LatticeCluster, Observed, Command, Shared>({
  name: "cluster",
  reconciles: latticeCluster,
  owns: [capiCluster, kubeadmControlPlane, machineDeployment],
  observe,
  plan,
  perform,
  status,
});

function plan(cluster: LatticeCluster, observed: Observed): Result<Plan<Command>, PlanError> {
  switch (phaseOf(cluster, observed)) {
    case "Pending":
    case "Provisioning":
      return map(compileCluster(cluster), (objects) => ({ apply: objects, commands: [] }));
    case "Pivoting": // sent on every pass: the child ignores a pivot it has already finished
      return ok({ apply: [], commands: [{ kind: "start-pivot", cluster: cluster.metadata.name }] });
    case "Ready": // only the owner applies the objects; the parent has a read-only copy
      return observed.ownedBy === "self" ? map(compileCluster(cluster), (objects) => ({ apply: objects, commands: [] })) : nothing;
    case "Failed": // a user must act; the status has the reason
      return nothing;
    case "Deleting":
    case "Unpivoting":
      return ok({ apply: [], commands: [{ kind: "start-unpivot", cluster: cluster.metadata.name }] });
  }
}

test("a controller is data: defineController returns its argument", () => {
  expect(clusterController).toMatchObject({ name: "cluster", reconciles: latticeCluster });
  expect(clusterController.finalizer).toBeUndefined();
});

test("a controller with a teardown has a finalizer, and may name its own", () => {
  const teardown = () => Promise.resolve(settled);
  expect(defineController({ ...clusterController, teardown }).finalizer).toBe("lattice.dev/cluster");
  expect(defineController({ ...clusterController, teardown, finalizer: "lattice.dev/x" }).finalizer).toBe("lattice.dev/x");
});

test("a name that does not fit into a label is a bug", () => {
  for (const name of ["", "Cluster", "a.b", "x".repeat(41), "1a", "a-"]) {
    expect(() => defineController({ ...clusterController, name })).toThrow("must be lower case, begin with a letter");
  }
});

test("watches and indexes have the type of their objects", () => {
  const watched = watch(latticeCluster, (cluster) => {
    expectTypeOf(cluster.spec.nodes).toBeNumber();
    return [{ name: cluster.metadata.name }];
  });
  const indexed = index(latticeCluster, "by-nodes", (cluster) => [String(cluster.spec.nodes)]);
  expect([watched.resource.kind, indexed.name]).toEqual(["LatticeCluster", "by-nodes"]);
});

test("an observation cannot write: its client has no methods that do", () => {
  defineController({
    ...clusterController,
    observe: async (cluster, { client }) => {
      // @ts-expect-error: create is not a method of the client that observe gets
      await client.create(latticeCluster, cluster);
      // @ts-expect-error: neither is apply
      await client.apply(latticeCluster, cluster, { fieldManager: "x" });
      // @ts-expect-error: nor delete
      await client.delete(latticeCluster, cluster.metadata);
      return ok({ ownedBy: "self", phase: "Ready" });
    },
  });
});
