/**
 * Writes the objects of an export: one file each, and in the journal of the source their uids and hashes. What changes at the source all the
 * same, although it is paused, is written again until two reads are equal.
 */
import { ok } from "#base";
import type { KubeObject } from "#kube";
import type { JournalHead } from "../journal/records.ts";
import { batchesOf } from "../plan/batches.ts";
import type { ObjectGraph, WholeNode } from "../graph/object-graph.ts";
import { isOwnFile } from "../files/file-names.ts";
import { fileNameProblems, writtenObject, type ManifestEntry, type WrittenObject } from "../files/manifest.ts";
import { entryOf, recordBatch } from "./batch-entries.ts";
import type { SourceContext } from "./context.ts";
import type { SourceKinds } from "./discover.ts";
import { inFolder, type ExportFolder } from "./export-folder.ts";
import { refusal, stoppedAt, type Moved } from "./failure.ts";
import { deleteBatch, readBatches, writeBatch } from "./journal.ts";
import { readyGraph } from "./ready-graph.ts";
import { turnsOf } from "./turns.ts";

const ROUNDS = 6;

export type WrittenFiles = readonly ManifestEntry[];

export async function writeFiles(context: SourceContext, folder: ExportFolder, head: JournalHead, kinds: SourceKinds): Moved<WrittenFiles> {
  const stored = new Map<string, ManifestEntry>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const graph = await readyGraph(context, { head, kinds, take: (object) => object });
    if (!graph.ok) return graph;
    const problems = fileNameProblems(graph.value.moved.map(({ object }) => object));
    if (problems.length > 0) return refusal(...problems);
    const all = await textsOf(context, graph.value.moved);
    if (!all.ok) return all;
    const written = all.value;
    const isSame = stored.size === written.length && written.every(({ entry }) => contentKey(stored.get(entry.file)) === contentKey(entry));
    // of the read that was stored: what is no content may differ in this one
    if (isSame) return ok([...stored.values()]);
    const recorded = await recordAll(context, graph.value, { move: head.id, isFirst: round === 1 });
    if (!recorded.ok) return recorded;
    const files = await storeAll(context, folder, written);
    if (!files.ok) return files;
    stored.clear();
    for (const { entry } of written) stored.set(entry.file, entry);
  }
  return refusal("the objects at the source keep changing although they are paused; find what writes them, then run the command again");
}

const stopped = () => stoppedAt("stopped while files were written");

async function textsOf(context: SourceContext, nodes: readonly WholeNode[]): Moved<readonly WrittenObject[]> {
  const giveWay = turnsOf(context);
  const written: WrittenObject[] = [];
  for (const node of nodes) {
    if (!(await giveWay())) return stopped();
    written.push(writtenObject(node));
  }
  return ok(written);
}

/** The status may change while the source is paused; it is an observation. The file has one of the observed values. */
const contentKey = (entry: ManifestEntry | undefined) => `${entry?.uid} ${entry?.hash}`;

type Recording = {
  readonly move: string;
  /** In this run: a request of an earlier one may be on its way to each batch, so that also those that do not change are written. */
  readonly isFirst: boolean;
};

async function recordAll(context: SourceContext, { moved }: ObjectGraph<KubeObject>, { move, isFirst }: Recording): Moved<void> {
  const recorded = await readBatches(context, move);
  if (!recorded.ok) return recorded;
  const batches = batchesOf(moved);
  for (const { number, nodes } of batches) {
    const entries = nodes.map((node) => entryOf(node, undefined, false));
    const before = recorded.value.find((batch) => batch.number === number);
    const runs = (before?.runs ?? 0) + (isFirst ? 1 : 0);
    const batch = { move, number, entries, runs };
    const written = isFirst ? await writeBatch(context, before, batch) : await recordBatch(context, before, batch);
    if (!written.ok) return written;
  }
  for (const batch of recorded.value.filter(({ number }) => number >= batches.length)) {
    const deleted = await deleteBatch(context, batch);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

async function storeAll(context: SourceContext, folder: ExportFolder, written: readonly WrittenObject[]): Moved<void> {
  const giveWay = turnsOf(context);
  const listed = await inFolder(folder.list(), "write");
  if (!listed.ok) return listed;
  const wanted = new Set(written.map(({ entry }) => entry.file));
  for (const { name } of (listed.value ?? []).filter((file) => !wanted.has(file.name) && !isOwnFile(file.name))) {
    if (!(await giveWay())) return stopped();
    const removed = await inFolder(folder.remove(name), "write");
    if (!removed.ok) return removed;
  }
  for (const [at, { entry, text }] of written.entries()) {
    if (!(await giveWay())) return stopped();
    const stored = await inFolder(folder.write(entry.file, text), "write");
    if (!stored.ok) return stored;
    context.report({ step: "write-files", done: at + 1, total: written.length });
  }
  return ok(undefined);
}
