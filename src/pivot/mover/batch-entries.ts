/** The journal of a batch: what is sent of each object, as hashes. */
import { ok } from "#base";
import type { MoveKind } from "../graph/move-kind.ts";
import type { WholeNode } from "../graph/object-graph.ts";
import type { BatchEntry, JournalBatch } from "../journal/records.ts";
import type { Batch } from "../plan/batches.ts";
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

/** The hash of an entry whose copy may have been made of any content: it is equal to none. */
export const UNSETTLED = "";

/** Before its copy is written. A run that is killed then leaves a copy of either content. */
export function sendingEntry(entry: BatchEntry, before: BatchEntry | undefined): BatchEntry {
  return before === undefined ? entry : acknowledgedEntry(entry, before.copy, before.hash === entry.hash ? entry.hash : UNSETTLED);
}

export function acknowledgedEntry(entry: BatchEntry, copy: string | undefined, hash: string): BatchEntry {
  return { ...entry, hash, ...(copy === undefined ? {} : { copy }) };
}

/** An object that has changed its batch may have two entries. */
export function entriesByUid(recorded: readonly StoredBatch[]): ReadonlyMap<string, BatchEntry> {
  const found = new Map<string, BatchEntry>();
  for (const entry of recorded.flatMap(({ entries }) => entries)) {
    const other = found.get(entry.uid);
    const known = other?.copy !== undefined && entry.copy === undefined ? other : entry;
    found.set(entry.uid, other === undefined || other.hash === entry.hash ? known : { ...known, hash: UNSETTLED });
  }
  return found;
}

/** By the number of a batch: its entries of objects that belong to a later one of the plan, which does not have them yet. */
export function carriedEntries(recorded: readonly StoredBatch[], batches: readonly Batch[]): ReadonlyMap<number, readonly BatchEntry[]> {
  const planned = new Map(batches.flatMap(({ number, nodes }) => nodes.map(({ uid }) => [uid, number] as const)));
  const written = new Map(
    recorded.flatMap(({ number, entries }) => entries.flatMap((entry) => (planned.get(entry.uid) === number ? [[entry.uid, entry]] : []))),
  );
  const isWritten = ({ uid, copy }: BatchEntry) => written.has(uid) && (copy === undefined || written.get(uid)?.copy !== undefined);
  return new Map(
    recorded.map(({ number, entries }) => [number, entries.filter((entry) => (planned.get(entry.uid) ?? 0) > number && !isWritten(entry))]),
  );
}

/** Written only when it says something new. */
export async function recordBatch(context: SourceContext, before: StoredBatch | undefined, batch: JournalBatch): Moved<StoredBatch> {
  if (before !== undefined && JSON.stringify(before.entries) === JSON.stringify(batch.entries)) return ok(before);
  return writeBatch(context, before, batch);
}
