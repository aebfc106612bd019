/** Batches in the order of the transfer: no batch has an object whose owner is in a later one. Pure. */
import type { MoveNode } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";

/** Small enough that the journal of a batch stays far below the limit of an object (200 entries are about 50 KB). */
const LARGEST_BATCH = 200;

export type Batch<T extends ObjectOutline = ObjectOutline> = { readonly number: number; readonly nodes: readonly MoveNode<T>[] };

/** `moved`: sorted by level. */
export function batchesOf<T extends ObjectOutline>(moved: readonly MoveNode<T>[], largest = LARGEST_BATCH): readonly Batch<T>[] {
  const batches: MoveNode<T>[][] = [];
  for (const node of moved) {
    const last = batches.at(-1);
    if (last !== undefined && last[0]?.level === node.level && last.length < largest) last.push(node);
    else batches.push([node]);
  }
  return batches.map((nodes, number) => ({ number, nodes }));
}
