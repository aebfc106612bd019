/** The state of a pivot in sentences: who owns, whether that is in doubt, and what to do next. Pure. */
import type { LatticeCluster } from "#crds";
import { findCondition } from "#kube";
import type { MoveState } from "#pivot";

export type PivotFacts = {
  readonly cluster: LatticeCluster;
  readonly parent: MoveState;
  /** The child; a text: why it does not answer. Undefined: the parent has no way to it. */
  readonly child: MoveState | string | undefined;
};

export type PivotSummary = {
  readonly owner: "self" | "parent" | "moving" | "in doubt";
  readonly next: string;
};

export function pivotSummary({ cluster, parent, child }: PivotFacts): PivotSummary {
  const { name } = cluster.metadata;
  const { journal } = parent;
  if (parent.exported)
    return journal?.phase === "intent"
      ? { owner: "moving", next: "an export to a directory is not complete: run lattice pivot export again, or undo it with --abort" }
      : {
          owner: "in doubt",
          next: `the objects were exported to a directory: give the receipt of the import to lattice pivot export --confirm -n ${journal === undefined ? name : `capi-${name}`}`,
        };
  if (journal !== undefined) return movingSummary(name, journal, child);
  if (typeof child === "object" && child.journal !== undefined)
    return { owner: "moving", next: "the objects are on their way back to the parent, whose operator continues" };
  if (typeof child === "object" && child.ownership.state === "owner") return SELF;
  if (cluster.status?.ownedBy === "self") return SELF;
  return parentSummary(cluster);
}

const SELF: PivotSummary = { owner: "self", next: "nothing: the cluster owns itself; work on it with its own kubeconfig" };

function movingSummary(name: string, journal: NonNullable<MoveState["journal"]>, child: PivotFacts["child"]): PivotSummary {
  const record = typeof child === "object" && child.record?.id === journal.id ? child.record.state : undefined;
  if (journal.phase === "intent")
    return { owner: "moving", next: `nothing: the operator continues; lattice pivot abort ${name} undoes it` };
  if (journal.phase === "committed" || record === "committed")
    return { owner: "self", next: "nothing: the child owns its objects, and the operator deletes those of the parent" };
  if (typeof child === "object") return { owner: "moving", next: `nothing: the operator continues; lattice pivot abort ${name} undoes it` };
  return {
    owner: "in doubt",
    next: "the commit was sent, and the child does not answer: restore the connection of its agent; the operator then finishes or undoes the move",
  };
}

function parentSummary({ metadata: { name }, status }: LatticeCluster): PivotSummary {
  const condition = findCondition(status?.conditions, "Pivoting");
  if (condition?.reason === "PivotAborted")
    return { owner: "parent", next: `the pivot was aborted: lattice pivot resume ${name} starts another one` };
  if (condition?.reason === "PivotRefused") return { owner: "parent", next: `remove the reasons: ${condition.message}` };
  return { owner: "parent", next: "nothing: the operator pivots the cluster as soon as it is complete and connected" };
}
