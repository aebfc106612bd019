/** The last part of a move: the objects of the source are deleted in reverse order. The journal of a batch goes after its objects. */
import { ok } from "#base";
import type { SourceContext } from "./context.ts";
import type { Moved } from "./failure.ts";
import { deleteBatch, readBatches } from "./journal.ts";
import { removeObjects } from "./remove-object.ts";

export async function deleteSource(context: SourceContext, move: string): Moved<void> {
  const batches = await readBatches(context, move);
  if (!batches.ok) return batches;
  const deletable = batches.value.map((batch) => ({ batch, entries: batch.entries.filter(({ kept }) => kept === undefined) }));
  const total = deletable.reduce((sum, { entries }) => sum + entries.length, 0);
  let done = 0;
  for (const { batch, entries } of deletable.toReversed()) {
    const objects = entries.map(({ kind, namespace, name, uid }) => ({ kind, key: { namespace, name }, uid }));
    const removed = await removeObjects(context.source, objects);
    if (!removed.ok) return removed;
    const forgotten = await deleteBatch(context, batch);
    if (!forgotten.ok) return forgotten;
    done += entries.length;
    context.report({ step: "delete-source", done, total });
  }
  return ok(undefined);
}
