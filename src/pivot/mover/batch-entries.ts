/** The journal of a batch: what is sent of each object, as hashes. */
import { ok } from "#base";
import type { MoveKind } from "../graph/move-kind.ts";
import type { WholeNode } from "../graph/object-graph.ts";
import type { BatchEntry, JournalBatch } from "../journal/records.ts";
import { contentOf, hashOf } from "../plan/content.ts";
import type { SourceContext } from "./context.ts";
import type { Moved } from "./failure.ts";
import { writeBatch, type StoredBatch } from "./journal.ts";

export function entryOf({ uid, object, kind, kept }: WholeNode, copy: string | undefined, isLeft: boolean): BatchEntry {
  const { namespace, name } = object.metadata;
  return {
    kind: kindOf(kind),
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
    hash: hashOf(contentOf(object, kind.hasStatus)),
    ...(kept === undefined ? {} : { kept: true }),
    ...(isLeft ? { left: true } : {}),
    ...(copy === undefined ? {} : { copy }),
  };
}

const kindOf = ({ resource: { group, version, kind, plural, namespaced } }: MoveKind) => ({ group, version, kind, plural, namespaced });

/** Written only when it says something new. */
export async function recordBatch(context: SourceContext, before: StoredBatch | undefined, batch: JournalBatch): Moved<StoredBatch> {
  if (before !== undefined && JSON.stringify(before.entries) === JSON.stringify(batch.entries)) return ok(before);
  return writeBatch(context, before, batch);
}
