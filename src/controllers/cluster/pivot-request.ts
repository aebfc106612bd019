/**
 * What a person asks for about the pivot of a child, by annotation `lattice.dev/pivot` on its LatticeCluster at the parent. Pure.
 *
 * "abort": an unfinished move is undone, as long as its outcome is not in doubt, and no other one is begun until "resume". Without the
 * annotation, and with any other value, every child pivots by itself.
 */
import type { LatticeCluster } from "#crds";

export const PIVOT_ANNOTATION = "lattice.dev/pivot";

export type PivotRequest = "run" | "abort";

export function pivotRequestOf({ metadata: { annotations = {} } }: Pick<LatticeCluster, "metadata">): PivotRequest {
  return Object.hasOwn(annotations, PIVOT_ANNOTATION) && annotations[PIVOT_ANNOTATION] === "abort" ? "abort" : "run";
}
