/**
 * Objects that each side of a move makes itself, such as the kubeconfig of a Cluster, which leads elsewhere from each of them. They are neither
 * copied nor compared: the target must have its own before the move begins, and the source's goes with the rest.
 */
import { describeObject } from "#kube";
import type { MoveNode } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import type { MoveContext } from "./context.ts";
import type { CopyState, ExistingCopies } from "./copies.ts";

export function isLeftToTarget({ leftToTarget }: Pick<MoveContext, "leftToTarget">, { object, kept }: MoveNode): boolean {
  return kept === undefined && leftToTarget?.(object) === true;
}

/** One sentence for each that the target lacks. */
export function missingAtTarget(left: readonly MoveNode[], existing: ExistingCopies): readonly string[] {
  return left.filter(({ object }) => isMissing(existing.of(object))).map(({ object }) => missingText(object));
}

function isMissing(found: CopyState | undefined): boolean {
  return found === undefined || found.isBeingDeleted;
}

function missingText(object: ObjectOutline): string {
  return `the target has no ${describeObject(object)}; it is not copied, because each side has its own: create it at the target first`;
}
