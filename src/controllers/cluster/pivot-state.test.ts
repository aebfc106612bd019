import { describe, expect, test } from "vitest";
import { expectOk, millisecondsOf } from "#base";
import { waiting } from "#controller-runtime";
import type { LatticeCluster, LatticeClusterStatus } from "#crds";
import type { NewCondition } from "#kube";
import {
  childCluster,
  CONNECTED,
  HOUR_MS,
  MINUTE_MS,
  NO_CAPI,
  NOON,
  observedChild,
  provisioningStatus,
  SELF_OWNED,
  timeOf,
} from "../../../test/builders/observed-child.ts";
import { childStateOf } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { DELETION_ANNOTATION } from "./pivot-state.ts";
import { planCluster } from "./plan.ts";
import type { PivotProblem, PivotView } from "./ports.ts";
import { MIRROR_ANNOTATION, specDigest } from "./spec-mirror.ts";
import { statusOfCluster } from "./status.ts";

const RUNNING: PivotView = {
  direction: "to-child",
  state: "running",
  step: "transfer",
  moved: 3,
  total: 9,
  startedAt: NOON - 5_000,
  progressAt: NOON,
};
const failedWith = (kind: PivotProblem["kind"], message = "because"): PivotView => ({
  ...RUNNING,
  state: "waiting",
  problem: { kind, message },
  retryAt: NOON + 7_000,
});
const BACK: PivotView = { ...RUNNING, direction: "to-parent" };
const AWAY = { ...CONNECTED, connected: false, lastCloseReason: "connection reset" };
const deleted = (cluster: LatticeCluster): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, deletionTimestamp: timeOf(NOON - HOUR_MS) },
});
const annotated = (cluster: LatticeCluster, annotations: Readonly<Record<string, string>>): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, annotations },
});
const condition = (type: string, status: "True" | "False", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: timeOf(NOON),
});
const selfStatus: LatticeClusterStatus = {
  phase: "Ready",
  ownedBy: "self",
  conditions: [
    condition("Ready", "True", "SelfManaged"),
    condition("AgentConnected", "True", "Connected"),
    condition("Provisioning", "False", "Provisioned"),
  ],
};
const MIRRORED = (() => {
  const cluster = childCluster({}, selfStatus);
  return annotated(cluster, { [MIRROR_ANNOTATION]: specDigest(cluster) });
})();
const STARTING = { problem: { reason: "CellStarting" as const, message: "starting", terminal: false }, cell: undefined, agent: undefined };

type Row = {
  readonly name: string;
  readonly cluster?: LatticeCluster;
  readonly given: Partial<ObservedChild>;
  readonly want: { readonly phase: string; readonly reason: string; readonly message?: unknown; readonly complete?: boolean };
};

const rows: readonly Row[] = [
  {
    name: "a move that runs",
    given: { ownership: "moving", pivot: RUNNING },
    want: { phase: "Pivoting", reason: "Pivoting", message: expect.stringContaining("(transfer)") },
  },
  { name: "a move that another process has left", given: { ownership: "moving" }, want: { phase: "Pivoting", reason: "Pivoting" } },
  {
    name: "a refused plan",
    given: { pivot: failedWith("refused", "a; b") },
    want: { phase: "Pivoting", reason: "PivotRefused", message: "a; b" },
  },
  { name: "a move that failed", given: { pivot: failedWith("failed") }, want: { phase: "Pivoting", reason: "PivotFailed" } },
  { name: "a move of another process", given: { pivot: failedWith("held") }, want: { phase: "Pivoting", reason: "PivotFailed" } },
  {
    name: "a move whose child is away",
    given: { ownership: "moving", agent: AWAY },
    want: { phase: "Pivoting", reason: "ChildUnreachable", message: expect.stringContaining("connection reset") },
  },
  {
    name: "a pivot without progress for too long, since the time that was written",
    cluster: childCluster({}, { pivot: { startedAt: timeOf(NOON - HOUR_MS) } }),
    given: { pivot: { ...failedWith("refused"), progressAt: NOON - 31 * MINUTE_MS } },
    want: { phase: "Failed", reason: "PivotTimedOut", message: "the pivot made no progress for too long: because; it is tried again" },
  },
  {
    name: "a pivot that makes progress",
    cluster: childCluster({}, { pivot: { startedAt: timeOf(NOON - HOUR_MS) } }),
    given: { pivot: { ...RUNNING, progressAt: NOON - MINUTE_MS } },
    want: { phase: "Pivoting", reason: "Pivoting" },
  },
  { name: "a child that owns itself", given: SELF_OWNED, want: { phase: "Ready", reason: "SelfManaged", complete: true } },
  {
    name: "the first time before its agent reports it",
    given: { ...SELF_OWNED, agent: CONNECTED },
    want: { phase: "Pivoting", reason: "WaitingForOwner" },
  },
  {
    name: "later, when its agent reports that it does not",
    cluster: MIRRORED,
    given: { ...SELF_OWNED, agent: CONNECTED },
    want: { phase: "Ready", reason: "WaitingForOwner", complete: false },
  },
  {
    name: "before the first report of a new connection",
    cluster: MIRRORED,
    given: { ...SELF_OWNED, agent: { ...CONNECTED, health: undefined } },
    want: { phase: "Ready", reason: "SelfManaged", complete: true },
  },
  {
    name: "nodes that are not ready",
    given: { ...SELF_OWNED, agent: { ...SELF_OWNED.agent, health: { ...SELF_OWNED.agent.health, readyNodes: 1 } } },
    want: { phase: "Ready", reason: "NodesNotReady", message: "1 of 3 nodes are ready", complete: false },
  },
  {
    name: "its agent is away",
    given: { ...SELF_OWNED, agent: AWAY },
    want: { phase: "Ready", reason: "Disconnected", message: expect.stringContaining("connection reset"), complete: false },
  },
  {
    name: "its agent has not returned yet after a restart of the cell",
    cluster: MIRRORED,
    given: { ...SELF_OWNED, agent: undefined, linkIsNew: true },
    want: { phase: "Ready", reason: "SelfManaged", complete: true },
  },
  {
    name: "its agent has not returned for too long",
    cluster: MIRRORED,
    given: { ...SELF_OWNED, agent: undefined },
    want: { phase: "Ready", reason: "Disconnected" },
  },
  {
    name: "the cell starts: the phase stays",
    cluster: MIRRORED,
    given: { ...STARTING, capi: NO_CAPI, objects: undefined },
    want: { phase: "Ready", reason: "CellStarting" },
  },
  {
    name: "a deleted child that owns itself is taken back",
    cluster: deleted(childCluster()),
    given: { ...SELF_OWNED, pivot: BACK },
    want: { phase: "Unpivoting", reason: "Unpivoting", message: expect.stringContaining("(transfer)") },
  },
  {
    name: "a deleted child with children",
    cluster: deleted(childCluster()),
    given: { ...SELF_OWNED, pivot: { ...BACK, ...failedWith("has-children", "prod has clusters of its own: a") } },
    want: { phase: "Unpivoting", reason: "HasChildren", message: "prod has clusters of its own: a" },
  },
  {
    name: "refused",
    cluster: deleted(childCluster()),
    given: { ...SELF_OWNED, pivot: failedWith("refused") },
    want: { phase: "Unpivoting", reason: "UnpivotRefused" },
  },
  {
    name: "failed",
    cluster: deleted(childCluster()),
    given: { ...SELF_OWNED, pivot: failedWith("failed") },
    want: { phase: "Unpivoting", reason: "UnpivotFailed" },
  },
  {
    name: "a deleted child that is away",
    cluster: deleted(childCluster()),
    given: { ...SELF_OWNED, agent: AWAY },
    want: { phase: "Unpivoting", reason: "ChildUnreachable" },
  },
  {
    name: "a deleted child that is away for too long: what to do",
    cluster: deleted(childCluster({ deletion: { timeout: "30m" } })),
    given: { ...SELF_OWNED, agent: AWAY },
    want: {
      phase: "Unpivoting",
      reason: "UnpivotTimedOut",
      message: expect.stringMatching(/connection reset; remove the cause, or set spec.deletion.unpivot to false/),
    },
  },
  {
    name: "a deleted child whose take-back has begun and that is away for too long: it cannot be released",
    cluster: deleted(childCluster({ deletion: { timeout: "30m" } })),
    given: { ownership: "moving", capi: NO_CAPI, objects: undefined, agent: AWAY },
    want: {
      phase: "Unpivoting",
      reason: "UnpivotTimedOut",
      message: expect.stringMatching(
        /connection reset; a move has begun, and its end needs the agent of the cluster: .* takes effect only then$/,
      ),
    },
  },
  {
    name: "a deleted child while the cell starts",
    cluster: deleted(MIRRORED),
    given: { ...SELF_OWNED, ...STARTING },
    want: { phase: "Unpivoting", reason: "CellStarting" },
  },
  {
    name: "a deleted child during its pivot",
    cluster: deleted(childCluster()),
    given: { ownership: "moving" },
    want: { phase: "Unpivoting", reason: "Unpivoting" },
  },
  {
    name: "a released child",
    cluster: deleted(childCluster({ deletion: { unpivot: false } })),
    given: SELF_OWNED,
    want: { phase: "Deleting", reason: "Deleting" },
  },
  {
    name: "a child whose Cluster this parent has deleted",
    cluster: annotated(deleted(childCluster()), { [DELETION_ANNOTATION]: "true" }),
    given: SELF_OWNED,
    want: { phase: "Deleting", reason: "Deleting" },
  },
];

describe("the phase from the pivot on", () => {
  test.each(rows)("$name", ({ cluster = childCluster(), given, want }) => {
    expect(childStateOf(cluster, observedChild(given))).toMatchObject(want);
  });
});

const planOf = (cluster: LatticeCluster, given: Partial<ObservedChild>) => expectOk(planCluster(cluster, observedChild(given)));

describe("the plan from the pivot on", () => {
  test.each([
    {
      name: "continues a move, and applies nothing",
      cluster: childCluster(),
      given: { ownership: "moving" as const, objects: undefined },
      want: ["start-pivot"],
    },
    { name: "waits for an agent that is away", cluster: childCluster(), given: { ownership: "moving" as const, agent: AWAY }, want: [] },
    {
      name: "is empty for a child that owns itself",
      cluster: MIRRORED,
      given: { ...SELF_OWNED, agent: { ...SELF_OWNED.agent, health: { ...SELF_OWNED.agent.health, specDigest: specDigest(MIRRORED) } } },
      want: [],
    },
    { name: "copies the spec of a child that was changed", cluster: MIRRORED, given: SELF_OWNED, want: ["mirror-spec"] },
    {
      name: "copies nothing over the edit of a user",
      cluster: annotated(MIRRORED, { [MIRROR_ANNOTATION]: "b".repeat(64) }),
      given: SELF_OWNED,
      want: [],
    },
    {
      name: "copies nothing from a child that is away",
      cluster: MIRRORED,
      given: { ...SELF_OWNED, agent: { ...SELF_OWNED.agent, connected: false } },
      want: [],
    },
    {
      name: "writes its kubeconfig before the objects are taken back",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, hasKubeconfig: false },
      want: ["write-kubeconfig"],
    },
    {
      name: "makes the namespace again",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, hasNamespace: false, hasKubeconfig: false },
      want: ["create-namespace"],
    },
    { name: "takes the objects back", cluster: deleted(childCluster()), given: SELF_OWNED, want: ["start-unpivot"] },
    {
      name: "takes nothing back from a child that is away",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, agent: AWAY },
      want: [],
    },
    { name: "waits for the cell", cluster: deleted(childCluster()), given: { ...SELF_OWNED, ...STARTING }, want: [] },
    {
      name: "unpauses a Cluster first that was taken back by a move that has not ended",
      cluster: deleted(childCluster()),
      given: { resume: "a" },
      want: ["resume-own"],
    },
    {
      name: "unpauses it also when the cluster was marked before",
      cluster: annotated(deleted(childCluster()), { [DELETION_ANNOTATION]: "true" }),
      given: { resume: "a" },
      want: ["resume-own"],
    },
    { name: "marks a cluster before its Cluster is deleted", cluster: deleted(childCluster()), given: {}, want: ["mark-deletion"] },
    {
      name: "then deletes it",
      cluster: annotated(deleted(childCluster()), { [DELETION_ANNOTATION]: "true" }),
      given: {},
      want: ["remove-access", "delete-namespace"],
    },
    {
      name: "releases a cluster",
      cluster: deleted(childCluster({ deletion: { unpivot: false } })),
      given: SELF_OWNED,
      want: ["remove-access", "delete-namespace"],
    },
  ])("$name", ({ cluster, given, want }) => {
    const plan = planOf(cluster, given);
    expect(plan.commands.map(({ kind }) => kind)).toEqual(want);
    expect(plan.apply).toEqual([]);
  });

  test("goes on applying the spec while a pivot is refused, and tries again when it is due", () => {
    const objects = {
      namespace: "capi-prod",
      first: [],
      rest: [{ apiVersion: "v1", kind: "KubeadmControlPlane", metadata: { name: "prod" } }],
      usedTemplates: new Set<string>(),
    };
    const plan = planOf(childCluster(), { objects, pivot: failedWith("refused", "no provider") });
    expect(plan.apply).toHaveLength(1);
    expect(plan.outcome).toEqual({ kind: "stalled", reason: "PivotRefused", message: "no provider", afterMs: 7_000 });
    const late = { ...failedWith("failed"), startedAt: NOON - 7 * HOUR_MS, progressAt: NOON - HOUR_MS };
    expect(planOf(childCluster(), { objects, pivot: late })).toMatchObject({
      commands: [{ kind: "start-pivot" }],
      outcome: { kind: "stalled", reason: "PivotTimedOut", afterMs: 7_000 },
    });
  });
});

const outcome = waiting("SelfManaged", 1, "the cluster owns itself");
const statusOf = (cluster: LatticeCluster, given: Partial<ObservedChild>) => statusOfCluster(cluster, observedChild(given), { outcome });
const conditionsOf = (status: { readonly conditions?: readonly NewCondition[] }) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]));

describe("the status from the pivot on", () => {
  test("of a child that owns itself is what its agent reports", () => {
    const pools = new Map([["default", { desired: 2, ready: 1 }]]);
    const agent = { ...SELF_OWNED.agent, health: { ...SELF_OWNED.agent.health, pools } };
    const status = statusOf(MIRRORED, { ...SELF_OWNED, agent });
    expect(status).toMatchObject({ phase: "Ready", ownedBy: "self", readyNodes: 3, pools: { default: { desired: 2, ready: 1 } } });
    expect(conditionsOf(status)).toEqual({
      Accepted: "True Valid",
      Provisioning: "False Provisioned",
      InfrastructureReady: "Unknown Pivoted",
      ControlPlaneAvailable: "Unknown Pivoted",
      WorkersAvailable: "Unknown Pivoted",
      AgentConnected: "True Connected",
      CertificatesValid: "True CertificateValid",
      Pivoting: "False Pivoted",
      SpecIgnored: "False SpecMirrored",
      Ready: "True SelfManaged",
    });
  });

  test("has the progress of a move, with the time of its first attempt", () => {
    const cluster = childCluster({}, { pivot: { startedAt: timeOf(NOON - HOUR_MS) } });
    expect(statusOf(cluster, { ownership: "moving", pivot: RUNNING })).toMatchObject({
      phase: "Pivoting",
      pivot: { step: "transfer", moved: 3, total: 9, startedAt: timeOf(NOON - HOUR_MS) },
    });
    const done: PivotView = { ...RUNNING, state: "done", step: "done", finishedAt: NOON, epoch: 1, report: "9 objects" };
    expect(statusOf(childCluster(), { ...SELF_OWNED, pivot: done })["pivot"]).toEqual({
      step: "done",
      moved: 3,
      total: 9,
      startedAt: timeOf(RUNNING.startedAt),
      finishedAt: timeOf(NOON),
      epoch: 1,
      report: "9 objects",
    });
  });

  test("notes the end of a move that an earlier process has finished, once", () => {
    const unnoted = childCluster({}, { ...selfStatus, pivot: { step: "delete-source", startedAt: timeOf(NOON - HOUR_MS) } });
    const { pivot } = statusOf(unnoted, SELF_OWNED) as LatticeClusterStatus;
    expect(pivot).toMatchObject({ step: "done", finishedAt: timeOf(NOON), epoch: 1 });
    expect(statusOf(childCluster({}, { ...selfStatus, ...(pivot === undefined ? {} : { pivot }) }), SELF_OWNED)).not.toHaveProperty(
      "pivot",
    );
    expect(millisecondsOf(pivot?.startedAt ?? "")).toBe(NOON - HOUR_MS);
  });

  test.each([
    { name: "refused", cluster: childCluster(), given: { pivot: failedWith("refused") }, want: "False PivotRefused" },
    { name: "running", cluster: childCluster(), given: { ownership: "moving" as const, pivot: RUNNING }, want: "True Pivoting" },
    { name: "taken back", cluster: deleted(childCluster()), given: { ...SELF_OWNED, pivot: BACK }, want: "True Unpivoting" },
    { name: "not taken back", cluster: deleted(childCluster()), given: { ...SELF_OWNED, agent: AWAY }, want: "False ChildUnreachable" },
    { name: "not yet begun", cluster: childCluster(), given: { agent: undefined, capi: NO_CAPI }, want: undefined },
    {
      name: "timed out",
      cluster: childCluster({}, { pivot: { startedAt: timeOf(NOON - 9 * HOUR_MS) } }),
      given: { pivot: failedWith("failed") },
      want: "False PivotTimedOut",
    },
    {
      name: "of a deleted cluster",
      cluster: deleted(childCluster({}, provisioningStatus("False", "Provisioned", NOON))),
      given: {},
      want: undefined,
    },
  ])("has a condition Pivoting: $name", ({ cluster, given, want }) => {
    expect(conditionsOf(statusOf(cluster, given))["Pivoting"]).toBe(want);
  });

  test("names the command for an edit that is not applied", () => {
    const edited = annotated(MIRRORED, { [MIRROR_ANNOTATION]: "b".repeat(64) });
    const ignored = statusOf(edited, SELF_OWNED).conditions?.find(({ type }) => type === "SpecIgnored");
    expect(ignored).toMatchObject({ status: "True", reason: "SpecEdited" });
    expect(ignored?.message).toContain("kubectl edit latticecluster prod");
    expect(ignored?.message).toContain("kubectl annotate latticecluster prod lattice.dev/mirrored-spec-");
    expect(conditionsOf(statusOf(edited, { ownership: "moving" }))["SpecIgnored"]).toBe("False SpecMirrored");
  });
});
