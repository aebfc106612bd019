/**
 * Which side drives the Cluster API objects of a child, by what the parent observes. Pure.
 *
 * It is never remembered: a crash between "the child took over" and a note of it would leave a cluster with two owners. In doubt the parent
 * applies nothing: objects that are absent here, of a child that has registered, are in the child.
 */
import type { NamespaceOwnership } from "#pivot";
import type { ChildAccess, PivotView } from "./ports.ts";

/** "moving": neither side applies them. */
export type ChildOwnership = "parent" | "moving" | "child";

export type OwnershipSigns = {
  /** The Cluster exists in the parent. */
  readonly exists: boolean;
  /** What moves have left in the namespace of the child, in the parent. */
  readonly traces: NamespaceOwnership;
  /** The child has registered. Before that, it cannot have the objects. */
  readonly registered: boolean;
  /** By which the child drives its own objects, as its agent reports it; 0: it does not, or nothing is known. */
  readonly epoch: number;
  /** The move that this process runs, or ran. */
  readonly pivot: PivotView | undefined;
};

/** New tokens, after a Secret was lost, do not undo it. */
export function hasRegistered(access: ChildAccess | undefined): boolean {
  return access !== undefined && (access.spent || access.certificates.length > 0);
}

export function childOwnership({ exists, traces, registered, epoch, pivot }: OwnershipSigns): ChildOwnership {
  const isRunning = pivot?.state === "queued" || pivot?.state === "running";
  if (traces.state === "moving" || isRunning) return "moving";
  const takenBack = traces.state === "owner" ? traces.epoch : 0;
  // a report of an earlier ownership arrives late
  if (epoch > takenBack) return "child";
  if (exists || takenBack > 0) return "parent";
  // caches of different kinds are not equally new: what this process has moved is not created again
  const hasMoved = pivot?.state === "done" && pivot.direction === "to-child";
  return hasMoved || registered ? "child" : "parent";
}
