/** The last part of a move: the objects of the source are deleted in reverse order. The journal goes after all objects. */
import { ok } from "#base";
import type { BatchEntry } from "../journal/records.ts";
import type { SourceContext } from "./context.ts";
import type { Moved } from "./failure.ts";
import { deleteBatch, readBatches } from "./journal.ts";
import { freeObjects, removeObjects, removeOnce, stillThere, type RemovedObject } from "./remove-object.ts";

export async function deleteSource(context: SourceContext, move: string): Moved<void> {
  const batches = await readBatches(context, move);
  if (!batches.ok) return batches;
  const deletable = batches.value.map((batch) => ({ batch, entries: batch.entries.filter(({ kept }) => kept === undefined) }));
  const total = deletable.reduce((sum, { entries }) => sum + entries.length, 0);
  let done = 0;
  const all = deletable.flatMap(({ entries }) => entries.map(removedObject));
  const free = await freeObjects(context.source, all);
  if (!free.ok) return free;
  for (const { entries } of deletable.toReversed()) {
    const removed = await removeOnce(context.source, entries.map(removedObject), free.value);
    if (!removed.ok) return removed;
    done += entries.length;
    context.report({ step: "delete-source", done, total });
  }
  const left = await stillThere(context.source, all);
  if (!left.ok) return left;
  const removed = await removeObjects(context.source, left.value);
  if (!removed.ok) return removed;
  for (const { batch } of deletable.toReversed()) {
    const forgotten = await deleteBatch(context, batch);
    if (!forgotten.ok) return forgotten;
  }
  return ok(undefined);
}

function removedObject({ kind, namespace, name, uid }: BatchEntry): RemovedObject {
  return { kind, key: { namespace, name }, uid };
}
