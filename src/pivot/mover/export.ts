/**
 * An export of the Cluster API objects of a namespace to a directory: observe, decide by the specification, perform, until there is nothing
 * left to do. The source stays paused until the receipt of the import is given, or the export is aborted.
 */
import { ok, sha256Hex, timestamp, type Clock } from "#base";
import type { JournalHead } from "../journal/records.ts";
import { MANIFEST_FILE } from "../files/file-names.ts";
import { digestOf, fileNameProblems, manifestDigest, manifestText, providersOf, type FilesManifest } from "../files/manifest.ts";
import type { ImportReceipt } from "../files/receipt.ts";
import { nextExportStep, type ExportStep, type ExportView } from "../ownership/export-steps.ts";
import { pausedBy } from "../plan/content.ts";
import { planProblems } from "../plan/problems.ts";
import { pausableOf, receivingProblems, settledGraph } from "./begin.ts";
import type { SourceContext } from "./context.ts";
import { deleteSource } from "./delete-source.ts";
import { discoverKinds, discoverTarget, unlabelledObjects, type SourceKinds } from "./discover.ts";
import { folderView, inFolder, openFolder, type ExportFolder, type OpenedFolder } from "./export-folder.ts";
import { writeFiles, type WrittenFiles } from "./export-files.ts";
import { refusal, type Moved } from "./failure.ts";
import {
  clusterIdentity,
  createHead,
  deleteAllBatches,
  deleteHead,
  deleteRecord,
  readBatches,
  readHead,
  readRecord,
  writeHead,
  type StoredHead,
} from "./journal.ts";
import { areAllPaused, pauseAll } from "./pausing.ts";

/** In the place of the target's identity in the journal: no cluster has it, so a move to a cluster does not continue an export. */
export const FOLDER_TARGET = "directory";

export type ExportContext = SourceContext & { readonly folder: ExportFolder; readonly receipt?: ImportReceipt | undefined };

export type ExportReport = {
  /** Absent: there was nothing to export. */
  readonly id?: string;
  readonly objects: number;
  readonly digest: string;
  readonly epoch: number;
  /** Deleted at the source, after the receipt. */
  readonly confirmed: boolean;
};

type Run = {
  readonly context: ExportContext;
  readonly source: string;
  head: StoredHead | undefined;
  opened: OpenedFolder | undefined;
  written: WrittenFiles | undefined;
  kinds: SourceKinds | undefined;
  /** Nothing was found to export, or the export has been confirmed. */
  ended: boolean;
  last: JournalHead | undefined;
};

const MOST_STEPS = 100;
const NOTHING: ExportReport = { objects: 0, digest: "", epoch: 0, confirmed: false };

export async function runExport(context: ExportContext): Moved<ExportReport> {
  const source = await clusterIdentity(context.source);
  if (!source.ok) return source;
  const run: Run = {
    context,
    source: source.value,
    head: undefined,
    opened: undefined,
    written: undefined,
    kinds: undefined,
    ended: false,
    last: undefined,
  };
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const view = await observe(run);
    if (!view.ok) return view;
    if (run.ended) return ok(reportOf(run));
    const decision = nextExportStep(view.value);
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(reportOf(run));
    context.report({ step: decision.step });
    const performed = await STEPS[decision.step](run);
    if (!performed.ok) return performed;
  }
  return refusal("the export does not advance: a step has no effect on what is observed; run the command again");
}

function reportOf({ opened, last, context }: Run): ExportReport {
  if (last === undefined) return NOTHING;
  const manifest = opened?.manifest?.id === last.id ? opened.manifest : undefined;
  const { receipt } = context;
  return {
    id: last.id,
    objects: manifest?.objects.length ?? receipt?.objects ?? 0,
    digest: manifest === undefined ? (receipt?.digest ?? "") : manifestDigest(manifest),
    epoch: last.epoch,
    confirmed: receipt !== undefined,
  };
}

/** Confirming needs no directory: it may be on another machine, or deleted. */
async function observe(run: Run): Moved<ExportView> {
  const { context } = run;
  const head = await readHead(context);
  if (!head.ok) return head;
  if (head.value !== undefined && head.value.target !== FOLDER_TARGET)
    return refusal("an unfinished move of this namespace goes to a cluster; finish or abort it with lattice move");
  run.head = head.value;
  run.last = head.value ?? run.last;
  const receipt = context.receipt !== undefined;
  if (receipt && head.value !== undefined && head.value.id !== context.receipt.id)
    return refusal(`the receipt is of another export (${context.receipt.id}); the one of this namespace is ${head.value.id}`);
  const opened = receipt ? ok(undefined) : await inFolder(openFolder(context.folder));
  if (!opened.ok) return opened;
  run.opened = opened.value;
  const paused =
    head.value === undefined ? ok(false) : await areAllPaused({ side: context.source, namespace: context.namespace, head: head.value });
  if (!paused.ok) return paused;
  const batches = head.value?.phase === "committed" ? await readBatches(context, head.value.id) : ok([1]);
  if (!batches.ok) return batches;
  return ok({
    journal: head.value,
    folder: opened.value === undefined ? "none" : folderView(opened.value),
    sourcePaused: paused.value,
    written: run.written !== undefined,
    receipt,
    sourceHasObjects: batches.value.length > 0,
  });
}

type Perform = (run: Run) => Moved<void>;

/** Each may be repeated after a crash at any write. */
const STEPS: Readonly<Record<Exclude<ExportStep, "done">, Perform>> = {
  "write-intent": writeIntent,
  "open-folder": openDirectory,
  "record-folder": (run) =>
    withHead(run, (head) => {
      const directory = run.opened?.manifest?.directory;
      return directory === undefined ? Promise.resolve(ok(undefined)) : writeHead(run.context, { ...head, directory });
    }),
  pause: (run) => {
    run.written = undefined;
    return withHead(run, (head) => pauseAll({ side: run.context.source, namespace: run.context.namespace, head }));
  },
  "write-files": (run) =>
    withHead(run, async (head) => {
      const kinds = await kindsOf(run);
      if (!kinds.ok) return kinds;
      const written = await writeFiles(run.context, run.context.folder, head, kinds.value);
      if (written.ok) run.written = written.value;
      return written.ok ? ok(undefined) : written;
    }),
  "announce-commit": (run) => withHead(run, (head) => writeHead(run.context, { ...head, phase: "committing" })),
  "complete-folder": (run) => writeManifest(run, "complete", run.written ?? []),
  "accept-receipt": acceptReceipt,
  "delete-source": (run) => withHead(run, ({ id }) => deleteSource(run.context, id)),
  finish: async (run) => {
    const { source, namespace } = run.context;
    const own = await readRecord(source, namespace);
    if (!own.ok) return own;
    const forgotten = own.value === undefined ? ok(undefined) : await deleteRecord(source, namespace, own.value);
    run.ended = true;
    return forgotten.ok ? withHead(run, (head) => deleteHead(run.context, head)) : forgotten;
  },
};

async function kindsOf(run: Run): Moved<SourceKinds> {
  const kinds = run.kinds === undefined ? await discoverKinds(run.context.source) : ok(run.kinds);
  if (kinds.ok) run.kinds = kinds.value;
  return kinds;
}

async function withHead(run: Run, work: (head: StoredHead) => Moved<void>): Moved<void> {
  return run.head === undefined ? refusal("the journal of the export was deleted while it ran") : work(run.head);
}

async function writeIntent(run: Run): Moved<void> {
  const { context } = run;
  const kinds = await kindsOf(run);
  if (!kinds.ok) return kinds;
  const record = await readRecord(context.source, context.namespace);
  if (!record.ok) return record;
  const graph = await settledGraph(context, kinds.value);
  if (!graph.ok) return graph;
  const { moved } = graph.value;
  if (moved.length === 0) {
    run.ended = true;
    return ok(undefined);
  }
  const own = await discoverTarget(context.source);
  if (!own.ok) return own;
  const unlabelled = await unlabelledObjects(context.source, context.namespace, { graph: graph.value, kinds: kinds.value });
  if (!unlabelled.ok) return unlabelled;
  const facts = { graph: graph.value, providers: kinds.value.providers, unlabelled: unlabelled.value, target: own.value };
  const problems = [...planProblems(facts), ...fileNameProblems(moved.map(({ object }) => object))];
  const all = [...receivingProblems(record.value, context.namespace), ...problems];
  if (all.length > 0) return refusal(...all);
  // without a journal, batches are what requests of an earlier move have written too late
  const cleared = await deleteAllBatches(context);
  if (!cleared.ok) return cleared;
  return createHead(context, {
    id: moveId({ clock: context.clock, random: context.random, seed: `${run.source} ${context.namespace}` }),
    phase: "intent",
    epoch: (record.value?.data.epoch ?? 0) + 1,
    source: run.source,
    target: FOLDER_TARGET,
    startedAt: timestamp(context.clock),
    pausables: moved.filter(({ object, kept }) => kept === undefined && pausedBy(object) !== undefined).map(pausableOf),
  });
}

export function moveId({ clock, random, seed }: { readonly clock: Clock; readonly random: () => number; readonly seed: string }): string {
  return sha256Hex(`${seed} ${clock.now()} ${random()}`).slice(0, 16);
}

/** A file that another export has created meanwhile stays, and is found by the next observation. */
function openDirectory(run: Run): Moved<void> {
  return withHead(run, async (head) => {
    const { context } = run;
    const kinds = await kindsOf(run);
    if (!kinds.ok) return kinds;
    const directory = moveId({ clock: context.clock, random: context.random, seed: `${run.source} ${head.id} directory` });
    const first = { state: "writing", objects: [], providers: providersOf(kinds.value.providers) } as const;
    const manifest = manifestOf(context.namespace, { ...head, directory }, first);
    const created = await inFolder(context.folder.create(MANIFEST_FILE, manifestText(manifest)), "write");
    return created.ok ? ok(undefined) : created;
  });
}

function writeManifest(run: Run, state: FilesManifest["state"], objects: WrittenFiles): Moved<void> {
  return withHead(run, async (head) => {
    const kinds = await kindsOf(run);
    if (!kinds.ok) return kinds;
    const manifest = manifestOf(run.context.namespace, head, { state, objects, providers: providersOf(kinds.value.providers) });
    return inFolder(run.context.folder.write(MANIFEST_FILE, manifestText(manifest)), "write");
  });
}

function manifestOf(
  namespace: string,
  { id, source, epoch, startedAt, pausables, directory }: JournalHead,
  more: Pick<FilesManifest, "state" | "objects" | "providers">,
): FilesManifest {
  return {
    version: 1,
    purpose: "export",
    id,
    namespace,
    source,
    epoch,
    createdAt: startedAt,
    pausables,
    ...(directory === undefined ? {} : { directory }),
    ...more,
  };
}

/** The digest in the receipt is that of the journal: the import had all objects, with these contents. */
function acceptReceipt(run: Run): Moved<void> {
  return withHead(run, async (head) => {
    const batches = await readBatches(run.context, head.id);
    if (!batches.ok) return batches;
    const digest = digestOf(batches.value.flatMap(({ entries }) => entries.map(({ hash }) => hash)));
    if (run.context.receipt?.digest !== digest)
      return refusal("the receipt is of other objects than those of this export; the source stays paused");
    return writeHead(run.context, { ...head, phase: "committed" });
  });
}
