/**
 * The transfer: every object of the plan is copied in batches, owners first, and both sides are read again until nothing differs. The plan has
 * outlines; the objects of a batch are read when it is copied, so that a move needs no more memory for many objects than for a few batches.
 *
 * The source is paused. What changes there all the same (a controller that was in the middle of its work, a person) is copied again; the
 * journal of a batch is written before its first object is created, and again with the uids of the copies.
 */
import { ok, sha256Hex } from "#base";
import { keyOf } from "#kube";
import type { MoveNode, ObjectGraph, WholeNode } from "../graph/object-graph.ts";
import { isAsPlanned, outlineOf, type ObjectOutline } from "../graph/outline.ts";
import type { BatchEntry, JournalHead } from "../journal/records.ts";
import { batchesOf, type Batch } from "../plan/batches.ts";
import { acknowledgedEntry, carriedEntries, entriesByUid, entryOf, recordBatch, sendingEntry, UNSETTLED } from "./batch-entries.ts";
import { PARALLEL, type MoveContext, type MoveProgress } from "./context.ts";
import { copiesAt } from "./copies.ts";
import type { SourceKinds } from "./discover.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import { deleteBatch, ensureNamespace, readBatches, type StoredBatch } from "./journal.ts";
import { isLeftToTarget } from "./left-to-target.ts";
import { ObjectReader } from "./object-reader.ts";
import { completeCopy, placeCopy, type PlacedCopy } from "./place-copy.ts";
import { readyGraph, type WantedGraph } from "./ready-graph.ts";
import { removeObjects } from "./remove-object.ts";

export type TransferResult = { readonly objects: number; readonly digest: string };

const ROUNDS = 6;

export async function transfer(context: MoveContext, head: JournalHead, kinds: SourceKinds): Moved<TransferResult> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const copied = await planAndCopy(context, { head, kinds, take: outlineOf }, round === 1 ? "transfer" : "verify");
    if (!copied.ok) return copied;
    if (copied.value.changes === 0) return ok(copied.value);
  }
  return refusal("the objects at the source keep changing although they are paused; find what writes them, then run the command again");
}

/** A function of its own: an async function holds what its variables had until they are assigned again, here the plan of the round before. */
async function planAndCopy(context: MoveContext, wanted: WantedGraph<ObjectOutline>, step: MoveProgress["step"]): Moved<CopyResult> {
  const graph = await readyGraph(context, wanted);
  return graph.ok ? copyAll(context, graph.value, { step, move: wanted.head.id }) : graph;
}

type CopyResult = TransferResult & { readonly changes: number };

/** One pass over all batches. */
type Round = {
  readonly context: MoveContext;
  readonly move: string;
  /** Entries of the journal as it was before, by the uid of the original. */
  readonly before: ReadonlyMap<string, BatchEntry>;
  /** By the number of a batch: its entries of objects that belong to a later one now. They stay in it until that one is written. */
  readonly carried: ReadonlyMap<number, readonly BatchEntry[]>;
  readonly originals: ObjectReader;
  readonly copies: ObjectReader;
  /** The uids of copies, by the uids of their originals. */
  readonly uids: Map<string, string>;
  /** Objects that have changed since they were planned: the next round plans them anew, and what they own. */
  readonly outdated: Set<string>;
  readonly hashes: string[];
};

async function copyAll(
  context: MoveContext,
  { moved }: ObjectGraph,
  round: { readonly step: MoveProgress["step"]; readonly move: string },
): Moved<CopyResult> {
  const recorded = await readBatches(context, round.move);
  if (!recorded.ok) return recorded;
  const batches = batchesOf(moved);
  const gone = await deleteStaleCopies(context, recorded.value, moved);
  if (!gone.ok) return gone;
  const prepared = await prepareNamespaces(context, moved);
  if (!prepared.ok) return prepared;
  const state: Round = {
    context,
    move: round.move,
    before: entriesByUid(recorded.value),
    carried: carriedEntries(recorded.value, batches),
    originals: new ObjectReader(context.source),
    copies: new ObjectReader(context.target),
    uids: new Map(),
    outdated: new Set(),
    hashes: [],
  };
  const total = moved.filter((node) => !isLeftToTarget(context, node)).length;
  let [changes, done] = [gone.value, 0];
  for (const batch of batches) {
    const copied = await copyBatch(
      state,
      batch,
      recorded.value.find(({ number }) => number === batch.number),
    );
    if (!copied.ok) return copied;
    changes += copied.value.changes;
    done += copied.value.copied;
    context.report({ step: round.step, done, total });
  }
  // last: their entries are in other batches now
  for (const batch of recorded.value.filter(({ number }) => number >= batches.length)) {
    const deleted = await deleteBatch(context, batch);
    if (!deleted.ok) return deleted;
  }
  return ok({ objects: total, digest: sha256Hex(state.hashes.join("\n")), changes });
}

type CopiedBatch = { readonly copied: number; readonly changes: number };

async function copyBatch(round: Round, batch: Batch, stored: StoredBatch | undefined): Moved<CopiedBatch> {
  const { context, uids, before } = round;
  const carried = round.carried.get(batch.number) ?? [];
  const { target } = context;
  const read = await readWhole(round, batch.nodes);
  if (!read.ok) return read;
  const whole = new Map(read.value.map((node) => [node.uid, node]));
  const isLeft = (node: MoveNode) => isLeftToTarget(context, node);
  const copied = read.value.filter((node) => !isLeft(node));
  // what is not read keeps its entry: an abort has to find its copy
  const entries = batch.nodes.flatMap(({ uid }) => {
    const node = whole.get(uid);
    return node === undefined ? (before.get(uid) ?? []) : entryOf(node, undefined, isLeft(node));
  });
  const sending = entries.map((entry) => sendingEntry(entry, before.get(entry.uid)));
  const record = { move: round.move, number: batch.number };
  const sent = await recordBatch(context, stored, { ...record, entries: [...sending, ...carried] });
  if (!sent.ok) return sent;
  const placed = await placeCopies(round, copied, entries);
  if (!placed.ok) return placed;
  const missed = new Set(copied.filter((_node, at) => placed.value[at]?.missed === true).map(({ uid }) => uid));
  const acknowledged = entries.map((entry) =>
    acknowledgedEntry(entry, uids.get(entry.uid) ?? entry.copy, missed.has(entry.uid) ? UNSETTLED : entry.hash),
  );
  const noted = await recordBatch(context, sent.value, { ...record, entries: [...acknowledged, ...carried] });
  if (!noted.ok) return noted;
  const incomplete = copied.filter((_node, at) => placed.value[at]?.incomplete === true);
  const completed = await inParallel(incomplete, PARALLEL, (node) => completeCopy(target, node, uids.get(node.uid) ?? ""));
  if (!completed.ok) return completed;
  round.hashes.push(...entries.filter(({ left }) => left === undefined).map(({ hash }) => hash));
  const outdated = batch.nodes.length - read.value.length;
  // the next round removes what is carried: then it is in its own batch, too
  const changes = outdated + carried.length + placed.value.filter(({ changed }) => changed).length;
  return ok({ copied: copied.length, changes });
}

/** The objects of these nodes, as they are now, without those that have changed since they were planned. */
async function readWhole({ context, originals, outdated }: Round, nodes: readonly MoveNode[]): Moved<readonly WholeNode[]> {
  const found = await originals.read(nodes);
  if (!found.ok) return found;
  const whole = await inParallel([...nodes.entries()], PARALLEL, async ([at, node]) => {
    const listed = found.value[at];
    const read = listed === undefined ? await context.source.get(node.kind.resource, keyOf(node.object)) : ok(listed);
    if (!read.ok) return read;
    const isCurrent = read.value !== undefined && isAsPlanned(read.value, node.object);
    if (!isCurrent || node.owners.some((owner) => outdated.has(owner))) outdated.add(node.uid);
    return ok(read.value === undefined || outdated.has(node.uid) ? [] : [{ ...node, object: read.value }]);
  });
  return whole.ok ? ok(whole.value.flat()) : whole;
}

async function placeCopies(
  { context: { target }, copies, uids, before }: Round,
  nodes: readonly WholeNode[],
  entries: readonly BatchEntry[],
): Moved<readonly PlacedCopy[]> {
  const existing = await copies.read(nodes);
  if (!existing.ok) return existing;
  const asRecorded = new Set(entries.filter(({ uid, hash }) => before.get(uid)?.hash === hash).map(({ uid }) => uid));
  const placed = await inParallel([...nodes.entries()], PARALLEL, ([at, node]) =>
    placeCopy(target, node, {
      existing: existing.value[at],
      uids,
      acknowledged: before.get(node.uid)?.copy,
      mayHaveMore: !asRecorded.has(node.uid),
    }),
  );
  if (placed.ok) for (const [at, { uid }] of placed.value.entries()) uids.set(nodes[at]?.uid ?? "", uid);
  return placed;
}

/** Copies of objects that the source has no more. The number of copies that were deleted. */
async function deleteStaleCopies(context: MoveContext, recorded: readonly StoredBatch[], moved: readonly MoveNode[]): Moved<number> {
  const uids = new Set(moved.map(({ uid }) => uid));
  const stale = recorded.flatMap(({ entries }) =>
    entries.filter(({ uid, kept, left }) => !uids.has(uid) && kept === undefined && left === undefined),
  );
  const copies = await copiesAt(context.target, stale);
  if (!copies.ok) return copies;
  const removed = await removeObjects(context.target, copies.value);
  return removed.ok ? ok(copies.value.length) : removed;
}

export async function prepareNamespaces({ target }: Pick<MoveContext, "target">, moved: readonly MoveNode[]): Moved<void> {
  for (const name of new Set(moved.flatMap(({ object }) => object.metadata.namespace ?? []))) {
    const ensured = await ensureNamespace(target, name);
    if (!ensured.ok) return ensured;
  }
  return ok(undefined);
}
