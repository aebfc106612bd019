/**
 * What a person asks for about the pivot of a child, by annotation `lattice.dev/pivot` on its LatticeCluster at the parent. Pure.
 *
 * "abort": an unfinished move is undone, as long as its outcome is not in doubt, and no other one is begun until "resume". Without the
 * annotation, and with any other value, every child pivots by itself.
 *
 * A request may have an id, in annotation `lattice.dev/pivot-request`. It returns in `status.pivot.request` when condition Pivoting answers that request, so
 * that the answer to an earlier one is not taken for it.
 */
import type { LatticeCluster } from "#crds";

export const PIVOT_ANNOTATION = "lattice.dev/pivot";

export const PIVOT_REQUEST_ANNOTATION = "lattice.dev/pivot-request";
/** Longer ones are no ids: the id is copied to the status. */
const ID = /^[0-9a-zA-Z-]{1,64}$/;

export type PivotRequest = "run" | "abort";

export function pivotRequestOf({ metadata: { annotations = {} } }: Pick<LatticeCluster, "metadata">): PivotRequest {
  return Object.hasOwn(annotations, PIVOT_ANNOTATION) && annotations[PIVOT_ANNOTATION] === "abort" ? "abort" : "run";
}

export function pivotRequestId({ metadata: { annotations = {} } }: Pick<LatticeCluster, "metadata">): string | undefined {
  const id = Object.hasOwn(annotations, PIVOT_REQUEST_ANNOTATION) ? annotations[PIVOT_REQUEST_ANNOTATION] : undefined;
  return id !== undefined && ID.test(id) ? id : undefined;
}
