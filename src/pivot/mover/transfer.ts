/**
 * The transfer: every object of the plan is copied in batches, owners first, and both sides are read again until nothing differs.
 *
 * The source is paused. What changes there all the same (a controller that was in the middle of its work, a person) is copied again; the
 * journal of a batch is written before its first object is created, and again with the uids of the copies.
 */
import { ok, sha256Hex, sleep } from "#base";
import { describeObject, field, fieldAt, type KubeObject } from "#kube";
import type { MoveKind } from "../graph/move-kind.ts";
import { BLOCK_MOVE_ANNOTATION, CLUSTER_LABEL } from "../graph/names.ts";
import type { MoveNode, ObjectGraph } from "../graph/object-graph.ts";
import type { BatchEntry, JournalBatch, JournalHead } from "../journal/records.ts";
import { batchesOf, type Batch } from "../plan/batches.ts";
import { contentOf, hashOf, isPaused, pausedBy } from "../plan/content.ts";
import { beingDeleted } from "../plan/problems.ts";
import { PARALLEL, type MoveContext, type SourceContext } from "./context.ts";
import { copiesAt, listCopies } from "./copies.ts";
import { discoverGraph, type SourceKinds } from "./discover.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import { deleteBatch, ensureNamespace, readBatches, writeBatch, type StoredBatch } from "./journal.ts";
import { isLeftToTarget } from "./left-to-target.ts";
import { completeCopy, placeCopy } from "./place-copy.ts";
import { removeObjects } from "./remove-object.ts";

export type TransferResult = { readonly objects: number; readonly digest: string };

const ROUNDS = 6;
/** Reads of objects that block the move. */
const POLL_MS = 1_000;
/** How long controllers have to observe the pause. One that does not run never does. */
const OBSERVED_MS = 15_000;

export async function transfer(context: MoveContext, head: JournalHead, kinds: SourceKinds): Moved<TransferResult> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const graph = await readyGraph(context, head, kinds);
    if (!graph.ok) return graph;
    const copied = await copyAll(context, graph.value, { round, move: head.id });
    if (!copied.ok) return copied;
    if (copied.value.changes === 0) return ok(copied.value);
  }
  return refusal("the objects at the source keep changing although they are paused; find what writes them, then run the command again");
}

/** The objects to copy, once none of them blocks the move. */
export async function readyGraph(context: SourceContext, head: JournalHead, kinds: SourceKinds): Moved<ObjectGraph> {
  const { source, namespace, clock, signal, waitMs, report } = context;
  const until = clock.monotonic() + waitMs;
  const observedUntil = clock.monotonic() + Math.min(waitMs, OBSERVED_MS);
  for (;;) {
    const graph = await discoverGraph(source, namespace, kinds);
    if (!graph.ok) return graph;
    const changed = changedPlan(graph.value, head);
    if (changed.length > 0) return refusal(...changed);
    const { moved } = graph.value;
    const first = moved.find(({ object }) => Object.hasOwn(object.metadata.annotations ?? {}, BLOCK_MOVE_ANNOTATION));
    const working = moved.find(({ object }) => hasNotObservedPause(object));
    if (first === undefined && (working === undefined || clock.monotonic() >= observedUntil)) return graph;
    if (first !== undefined && clock.monotonic() >= until)
      return refusal(`${describeObject(first.object)} still has annotation ${BLOCK_MOVE_ANNOTATION}; its provider has not released it`);
    report({ step: "wait", note: waitingFor(first, working) });
    if (!(await sleep(clock, POLL_MS, signal))) return refusal("stopped while an object blocked the move");
  }
}

/** Its controller reports whether it is paused, and has not observed yet that it is: it may be in the middle of its work. */
function hasNotObservedPause(object: KubeObject): boolean {
  const conditions = fieldAt(object, "status", "conditions");
  const isOfCluster = isPaused(object) || Object.hasOwn(object.metadata.labels ?? {}, CLUSTER_LABEL);
  return (
    isOfCluster &&
    Array.isArray(conditions) &&
    conditions.some((one) => field(one, "type") === "Paused" && field(one, "status") === "False")
  );
}

function waitingFor(blocking: MoveNode | undefined, working: MoveNode | undefined): string {
  if (blocking !== undefined) return `${describeObject(blocking.object)} blocks the move by annotation`;
  return working === undefined ? "" : `the controller of ${describeObject(working.object)} has not observed the pause yet`;
}

/** What has appeared or gone since the source was paused and must not be copied. */
function changedPlan(graph: ObjectGraph, { pausables }: JournalHead): readonly string[] {
  const known = new Set(pausables.map(({ kind, name }) => `${kind.kind}/${name}`));
  const fresh = graph.moved.filter(
    ({ object, kept }) => kept === undefined && pausedBy(object) !== undefined && !known.has(`${object.kind}/${object.metadata.name}`),
  );
  return [
    ...graph.problems,
    ...beingDeleted(graph).map((object) => `${describeObject(object)} is being deleted; it is finished at the source, not copied`),
    ...fresh.map(
      ({ object }) => `${describeObject(object)} has appeared since the move began; delete it, or abort the move and begin again`,
    ),
  ];
}

type CopyResult = TransferResult & { readonly changes: number };

type Round = { readonly round: number; readonly move: string };

async function copyAll(context: MoveContext, graph: ObjectGraph, { round, move }: Round): Moved<CopyResult> {
  const { target, report } = context;
  const recorded = await readBatches(context, move);
  if (!recorded.ok) return recorded;
  const before = new Map(recorded.value.flatMap(({ entries }) => entries.map((entry) => [entry.uid, entry])));
  const batches = batchesOf(graph.moved);
  const gone = await dropStale(context, recorded.value, { batches, moved: graph.moved });
  if (!gone.ok) return gone;
  const prepared = await prepareNamespaces(context, graph.moved);
  if (!prepared.ok) return prepared;
  const existing = await listCopies(target, graph.moved);
  if (!existing.ok) return existing;
  const uids = new Map<string, string>();
  const hashes: string[] = [];
  let changes = gone.value;
  let done = 0;
  const isLeft = (node: MoveNode) => isLeftToTarget(context, node);
  const total = graph.moved.filter((node) => !isLeft(node)).length;
  const step = round === 1 ? "transfer" : "verify";
  for (const batch of batches) {
    const copied = batch.nodes.filter((node) => !isLeft(node));
    const entries = batch.nodes.map((node) => entryOf(node, before.get(node.uid)?.copy, isLeft(node)));
    const stored = recorded.value.find(({ number }) => number === batch.number);
    const sent = await recordBatch(context, stored, { move, number: batch.number, entries });
    if (!sent.ok) return sent;
    const placed = await inParallel(copied, PARALLEL, (node) =>
      placeCopy(target, node, { existing: existing.value.of(node.object), uids, acknowledged: before.get(node.uid)?.copy }),
    );
    if (!placed.ok) return placed;
    for (const [at, { uid, changed }] of placed.value.entries()) {
      uids.set(copied[at]?.uid ?? "", uid);
      changes += changed ? 1 : 0;
    }
    const acknowledged = batch.nodes.map((node) => entryOf(node, uids.get(node.uid), isLeft(node)));
    const noted = await recordBatch(context, sent.value, { move, number: batch.number, entries: acknowledged });
    if (!noted.ok) return noted;
    const incomplete = copied.filter((_node, at) => placed.value[at]?.incomplete === true);
    const completed = await inParallel(incomplete, PARALLEL, (node) => completeCopy(target, node, uids.get(node.uid) ?? ""));
    if (!completed.ok) return completed;
    hashes.push(...entries.filter(({ left }) => left === undefined).map(({ hash }) => hash));
    done += copied.length;
    report({ step, done, total });
  }
  return ok({ objects: total, digest: sha256Hex(hashes.join("\n")), changes });
}

export function entryOf({ uid, object, kind, kept }: MoveNode, copy: string | undefined, isLeft: boolean): BatchEntry {
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

type Planned = { readonly batches: readonly Batch[]; readonly moved: readonly MoveNode[] };

/** Copies of objects that the source has no more, and batches that are no more needed. The number of copies that were deleted. */
async function dropStale(context: MoveContext, recorded: readonly StoredBatch[], { batches, moved }: Planned): Moved<number> {
  const uids = new Set(moved.map(({ uid }) => uid));
  const stale = recorded.flatMap(({ entries }) =>
    entries.filter(({ uid, kept, left }) => !uids.has(uid) && kept === undefined && left === undefined),
  );
  const copies = await copiesAt(context.target, stale);
  if (!copies.ok) return copies;
  const removed = await removeObjects(context.target, copies.value);
  if (!removed.ok) return removed;
  for (const batch of recorded.filter(({ number }) => number >= batches.length)) {
    const deleted = await deleteBatch(context, batch);
    if (!deleted.ok) return deleted;
  }
  return ok(copies.value.length);
}

export async function prepareNamespaces({ target }: Pick<MoveContext, "target">, moved: readonly MoveNode[]): Moved<void> {
  for (const name of new Set(moved.flatMap(({ object }) => object.metadata.namespace ?? []))) {
    const ensured = await ensureNamespace(target, name);
    if (!ensured.ok) return ensured;
  }
  return ok(undefined);
}
