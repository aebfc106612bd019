/**
 * Which side drives the Cluster API objects of a child, by what the parent observes. Pure.
 *
 * It is never remembered: a crash between "the child took over" and a note of it would leave a cluster with two owners. In doubt the parent
 * applies nothing: objects that are absent here, of a child that has registered, are in the child.
 */
import { fieldAt, type KubeObject } from "#kube";
import type { NamespaceOwnership } from "#pivot";
import { adoptedCluster } from "./adoption.ts";
import type { ChildAccess, PivotView } from "./ports.ts";

/** "moving": neither side applies them. */
export type ChildOwnership = "parent" | "moving" | "child";

export type OwnershipSigns = {
  /** The Cluster exists in the parent. */
  readonly exists: boolean;
  /** What moves have left in the namespace of the child, in the parent. */
  readonly traces: NamespaceOwnership;
  /** The child may have the objects: see `mayOwnItself`. */
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

/**
 * Whether a Cluster that is absent here may be in the child: it has registered, was adopted, or its status has it as owner. One of these is enough: its access
 * record can be lost or unreadable, and its status be erased. It decides nothing about a Cluster that exists here, or was taken back.
 */
export function mayOwnItself(cluster: KubeObject, access: ChildAccess | undefined): boolean {
  return hasRegistered(access) || adoptedCluster(cluster) !== undefined || fieldAt(cluster, "status", "ownedBy") === "self";
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
