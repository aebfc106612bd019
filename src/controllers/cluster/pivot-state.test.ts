import { describe, expect, test } from "vitest";
import type { LatticeCluster } from "#crds";
import {
  childCluster,
  CONNECTED,
  HOUR_MS,
  MINUTE_MS,
  NO_CAPI,
  NOON,
  observedChild,
  SELF_OWNED,
  timeOf,
} from "../../../test/builders/observed-child.ts";
import { childStateOf } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { annotated, AWAY, BACK, deleted, failedWith, MIRRORED, RUNNING, STARTING } from "./pivot-rows.test-support.ts";
import { DELETION_ANNOTATION } from "./pivot-state.ts";

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
