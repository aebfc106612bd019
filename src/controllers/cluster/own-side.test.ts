/** Plan and status of the operator's own cluster. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { settled, waiting, type PassResult } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { field, type NewCondition } from "#kube";
import { childCluster, COMPLETE_CAPI, MINUTE_MS, NO_CAPI, NOON } from "../../../test/builders/observed-child.ts";
import { observedOwn, OWN_NODES } from "../../../test/builders/observed-own.ts";
import type { ObservedOwn, OwnClusterObjects, OwnManagement } from "./observed.ts";
import { planCluster } from "./plan.ts";
import { statusOfCluster } from "./status.ts";

const outcome = waiting("NodesNotReady", 1, "");
const conditionOf = (status: { readonly conditions?: readonly NewCondition[] }, type: string) => {
  const found = status.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};
const conditionsOf = (status: { readonly conditions?: readonly NewCondition[] }) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]));

const object = (kind: string, name: string) => ({ apiVersion: "v1", kind, metadata: { name } });
const objects: OwnClusterObjects = {
  namespace: "capi-prod",
  all: [
    object("Cluster", "prod"),
    object("KubeadmControlPlane", "prod"),
    object("MachineDeployment", "a"),
    object("MachineDeployment", "b"),
  ],
  usedTemplates: new Set(["LocalMachineTemplate capi-prod/old"]),
};
const server = { url: "https://127.0.0.1:1", ca: "CA" };
function owner(change: Partial<Extract<OwnManagement, { state: "owner" }>> = {}): OwnManagement {
  return { state: "owner", epoch: 1, objects, kubeconfig: undefined, ...change };
}
const leaving: OwnManagement = { state: "moving", direction: "out" };
const arriving: OwnManagement = { state: "moving", direction: "in" };
const deleted = (minutesAgo: number): LatticeCluster => {
  const cluster = childCluster();
  const deletionTimestamp = new Date(NOON - minutesAgo * 60_000).toISOString();
  return { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp } };
};
const planOf = (given: Partial<ObservedOwn>, cluster = childCluster()) => expectOk(planCluster(cluster, observedOwn(given)));

describe("the plan of the operator's own cluster", () => {
  test("that never was moved applies nothing, and never deletes its own machines", () => {
    expect(planOf({})).toEqual({ apply: [], commands: [] });
    expect(planOf({}, deleted(0))).toEqual({ apply: [], commands: [] });
    expect(planOf({ capi: COMPLETE_CAPI }, deleted(60))).toMatchObject({ apply: [], outcome: { kind: "stalled" } });
  });

  test("reports missing nodes", () => {
    expect(planOf({ nodes: { ...OWN_NODES, ready: 0 } }).outcome).toMatchObject({ kind: "waiting", reason: "NodesNotReady" });
    const cellProblem = { reason: "CellAddressPending" as const, message: "m", terminal: false };
    expect(planOf({ cellProblem }).outcome).toMatchObject({ kind: "stalled", reason: "CellAddressPending" });
  });

  test("that owns itself applies its objects in their order and prunes the others, but not templates in use", () => {
    const { apply, prune, commands, outcome: end } = planOf({ management: owner(), capi: COMPLETE_CAPI });
    expect(apply).toEqual([objects.all.slice(0, 1), objects.all.slice(1, 2), objects.all.slice(2)]);
    expect(prune).toMatchObject({ keep: objects.usedTemplates });
    expect([commands, end]).toEqual([[], undefined]);
  });

  test("that owns itself writes the kubeconfig of Cluster API when it is due, also if its objects cannot be applied", () => {
    const command = { kind: "write-own-kubeconfig", cluster: "prod", server };
    expect(planOf({ management: owner({ kubeconfig: server }) })).toMatchObject({ commands: [command], commandsAnyway: true });
    const problem = { reason: "CompileError" as const, message: "spec.nodes: is wrong", terminal: true };
    expect(planOf({ management: owner({ kubeconfig: server, objects: problem }) })).toMatchObject({
      apply: [],
      commands: [command],
      outcome: { kind: "stalled", reason: "CompileError", message: problem.message },
    });
  });

  test.each([
    { name: "its objects", change: {} },
    { name: "a problem", change: { objects: { reason: "CompileError" as const, message: "m", terminal: true } } },
  ])("that owns itself by a move that has not ended unpauses its Cluster, with $name", ({ change }) => {
    const commands = [{ kind: "resume-own", cluster: "prod" }];
    expect(planOf({ management: owner({ resume: "a", ...change }) }).commands).toEqual(commands);
    expect(planOf({ management: owner({ resume: "a", ...change }) }, deleted(0))).toMatchObject({
      apply: [],
      commands,
      outcome: { kind: "waiting", reason: "Deleting" },
    });
    const refused = planOf({ management: owner({ resume: "a", ...change }), children: ["a"] }, deleted(0));
    expect(refused).toMatchObject({ commands, outcome: { kind: "stalled", reason: "HasChildren" } });
  });

  test("is settled during an upgrade in which all nodes are ready, and waits while some are not", () => {
    const management = owner({ objects: { ...objects, upgrade: "pool a is being upgraded" } });
    expect(planOf({ management }).outcome).toBeUndefined();
    expect(planOf({ management, nodes: { ...OWN_NODES, ready: 2 } }).outcome).toMatchObject({ kind: "waiting", reason: "Upgrading" });
  });

  test.each([
    { name: "arrive", management: arriving },
    { name: "leave", management: leaving },
  ])("applies nothing while its objects $name", ({ management }) => {
    expect(planOf({ management, capi: COMPLETE_CAPI })).toMatchObject({
      apply: [],
      commands: [],
      outcome: { kind: "waiting", reason: "ObjectsMoving" },
    });
  });
});

describe("the deletion of the operator's own cluster", () => {
  const machines = { apply: [], deletes: { order: [["Cluster"]] }, commands: [] };
  const rows: { name: string; given: Partial<ObservedOwn>; minutesAgo?: number; want: object }[] = [
    { name: "without a parent deletes its machines", given: { management: owner() }, want: machines },
    {
      name: "is refused with a connected parent, where it is deleted",
      given: { management: owner(), hasParent: true, parent: "mgmt", uplink: { connected: true } },
      minutesAgo: 60,
      want: {
        outcome: {
          reason: "Deleting",
          message:
            "a cluster with a parent is deleted there: on mgmt, run: kubectl delete latticecluster prod; when mgmt is not connected for 5 minutes, this cluster deletes its machines itself",
        },
      },
    },
    {
      name: "waits for a parent that may return",
      given: { management: owner(), hasParent: true, parent: "mgmt", uplink: { connected: false } },
      minutesAgo: 4,
      want: { outcome: { reason: "Deleting", message: expect.stringContaining("mgmt is not connected") as string } },
    },
    {
      name: "does not wait for ever for a parent that is gone",
      given: { management: owner(), hasParent: true, parentAwayMs: 5 * MINUTE_MS },
      minutesAgo: 5,
      want: machines,
    },
    {
      name: "waits for a parent whose connection has just ended, also long after the deletion",
      given: { management: owner(), hasParent: true, parent: "mgmt", uplink: { connected: false }, parentAwayMs: 4 * MINUTE_MS },
      minutesAgo: 600,
      want: { outcome: { reason: "Deleting", message: expect.stringContaining("mgmt is not connected") as string } },
    },
    {
      name: "waits for a parent that was away long before the deletion: its user may have expected the opposite",
      given: { management: owner(), hasParent: true, parent: "mgmt", parentAwayMs: 600 * MINUTE_MS },
      minutesAgo: 4,
      want: { outcome: { reason: "Deleting", message: expect.stringContaining("mgmt is not connected") as string } },
    },
    {
      name: "waits for its agent after a start of the operator",
      given: { management: owner(), hasParent: true },
      minutesAgo: 600,
      want: { outcome: { reason: "Deleting", message: expect.stringContaining("is not connected") as string } },
    },
    {
      name: "is refused with children, which it names",
      given: { management: owner(), children: ["a", "b"] },
      want: { outcome: { reason: "HasChildren", message: expect.stringContaining("the parent of a, b;") as string } },
    },
    {
      name: "that never was moved is refused with children: they need its cell",
      given: { capi: NO_CAPI, children: ["a", "b"] },
      want: { outcome: { reason: "HasChildren", message: expect.stringContaining("the parent of a, b;") as string } },
    },
    {
      name: "is refused with many children in a message of a bounded length",
      given: { management: owner(), children: Array.from({ length: 5_000 }, (_, index) => `c${index}`) },
      want: { outcome: { message: expect.stringMatching(/^.{0,100}c0, .{0,100} and 4990 more;.{0,100}$/) as string } },
    },
    { name: "is refused while its objects are moved", given: { management: leaving }, want: { outcome: { reason: "ObjectsMoving" } } },
    {
      name: "is refused with Cluster API objects that were never moved",
      given: { capi: COMPLETE_CAPI },
      want: { outcome: { reason: "Deleting" } },
    },
    { name: "removes only the resource of a cluster without machines here", given: { capi: NO_CAPI }, want: { apply: [], commands: [] } },
  ];
  test.each(rows)("$name", ({ given, minutesAgo = 0, want }) => {
    const plan = planOf(given, deleted(minutesAgo));
    expect(plan).toMatchObject(want);
    expect("deletes" in plan).toBe("deletes" in want);
  });
});

describe("the status of the operator's own cluster", () => {
  const nodes = OWN_NODES;
  const own = observedOwn;
  const ready = (cluster: LatticeCluster, observed: ObservedOwn) => statusOfCluster(cluster, observed, { outcome: settled });

  test("is Ready with its nodes, and it owns itself", () => {
    const status = ready(childCluster({ cellRef: undefined }), own());
    expect({ ...status, conditions: undefined }).toEqual({
      phase: "Ready",
      message: "all 3 nodes are ready",
      readyNodes: 3,
      totalNodes: 3,
      kubernetesVersion: "v1.36.3",
      pools: { default: { desired: 2, ready: 2 } },
      ownedBy: "self",
      conditions: undefined,
    });
    expect(conditionsOf(status)).toEqual({
      Accepted: "True Valid",
      AgentConnected: "False NoParent",
      SpecIgnored: "False SpecApplied",
      Ready: "True SelfManaged",
    });
  });

  test.each([
    { name: "its parent, until it has its Cluster API objects", given: { hasParent: true, parent: "mgmt" }, want: "mgmt" },
    { name: "itself with its Cluster API objects", given: { hasParent: true, parent: "mgmt", management: owner() }, want: "self" },
    {
      name: "its owner of before while its objects are moved",
      given: { hasParent: true, parent: "mgmt", management: { state: "moving" as const, direction: "in" as const } },
      want: "mgmt",
    },
    { name: "the cell of its spec while the agent has not read its parent", given: { hasParent: true }, want: "mgmt" },
  ])("is owned by $name", ({ given, want }) => {
    expect(field(ready(childCluster(), own(given)), "ownedBy")).toBe(want);
  });

  test.each([
    { name: "connected", uplink: { connected: true, since: NOON }, want: "True Connected" },
    { name: "not connected yet", uplink: { connected: false }, want: "False WaitingForAgent" },
    { name: "disconnected", uplink: { connected: false, lastCloseReason: "connection refused" }, want: "False Disconnected" },
  ])("has the state of its agent: $name", ({ uplink, want }) => {
    expect(conditionOf(ready(childCluster(), own({ hasParent: true, parent: "mgmt", uplink })), "AgentConnected")).toBe(want);
  });

  const problem = { reason: "CellAddressMismatch" as const, message: "spec.endpoints.host: is 10.0.0.1", terminal: false };
  test.each([
    { name: "nodes are missing", given: { nodes: { ...nodes, ready: 2 } }, want: "2 of 3 nodes are ready" },
    { name: "there are none", given: { nodes: { ...nodes, ready: 0, total: 0 } }, want: "the cluster has no nodes" },
    { name: "the parent is another", given: { hasParent: true, parent: "other" }, want: "spec.cellRef is mgmt" },
    { name: "the address of the cell is another", given: { cellProblem: problem }, want: "spec.endpoints.host: is 10.0.0.1" },
  ])("is not ready when $name", ({ given, want }) => {
    const status = statusOfCluster(childCluster(), own(given), { outcome });
    expect(field(status, "message")).toContain(want);
    expect(conditionOf(status, "Ready")).toBeUndefined();
    expect(field(status, "phase")).toBe("Ready");
  });

  test("reports what Cluster API reports once it owns itself", () => {
    const status = ready(
      childCluster(),
      own({ management: owner(), capi: COMPLETE_CAPI, hasParent: true, parent: "mgmt", uplink: { connected: true } }),
    );
    expect(status).toMatchObject({
      phase: "Ready",
      ownedBy: "self",
      endpoint: "127.0.0.9:6443",
      pools: { default: { desired: 2, ready: 2 } },
    });
    expect(conditionsOf(status)).toEqual({
      Accepted: "True Valid",
      InfrastructureReady: "True Available",
      ControlPlaneAvailable: "True Available",
      WorkersAvailable: "True Available",
      AgentConnected: "True Connected",
      SpecIgnored: "False SpecApplied",
      Ready: "True SelfManaged",
    });
  });

  const end = (kind: "settled" | "waiting"): Pick<PassResult, "outcome"> => ({ outcome: kind === "settled" ? settled : outcome });
  test.each([
    { name: "arriving", management: arriving, phase: "Pivoting", want: "are arriving from its parent" },
    { name: "leaving", management: leaving, phase: "Unpivoting", want: "are being moved away" },
    {
      name: "missing",
      management: owner({ objects: { reason: "ClusterApiMissing" as const, message: "no KubeadmControlPlane", terminal: false } }),
      phase: "Ready",
      want: "no KubeadmControlPlane",
    },
  ])("has a phase and a sentence while its objects are $name", ({ management, phase, want }) => {
    const status = statusOfCluster(childCluster(), own({ management }), end("waiting"));
    expect(status).toMatchObject({ phase, message: expect.stringContaining(want) as string });
    expect(conditionOf(status, "Ready")).toBeUndefined();
  });

  test("is Ready during an upgrade, with the step", () => {
    const upgrade = "pool a is being upgraded to v1.36.3";
    const status = ready(childCluster(), own({ management: owner({ objects: { ...objects, upgrade } }) }));
    expect(status).toMatchObject({ phase: "Ready", message: `${upgrade}; all 3 nodes are ready` });
    expect(conditionOf(status, "Ready")).toBe("True Upgrading");
  });

  test("is never Ready while it is being deleted", () => {
    expect(conditionOf(ready(deleted(0), own()), "Ready")).toBeUndefined();
  });
});
