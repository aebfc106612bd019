/**
 * A move: observe both sides, decide the next step by the specification, perform it, until there is none. A run that was killed leaves a
 * journal, and the next run continues where that one ended, because it observes the same.
 */
import { err, ok, timestamp, type Err, type Result } from "#base";
import { HEAD_NAME, pausableText, RECORD_NAME, type TargetRecordData } from "../journal/records.ts";
import { nextStep, type MoveStep, type MoveView, type TargetRecord } from "../ownership/decide.ts";
import { begin, discoverFacts, traceProblems } from "./begin.ts";
import type { MoveContext } from "./context.ts";
import { deleteSource } from "./delete-source.ts";
import { discoverKinds, type SourceKinds } from "./discover.ts";
import { refusal, type Moved, type MoveFailure } from "./failure.ts";
import {
  clusterIdentity,
  deleteAllBatches,
  deleteHead,
  deleteRecord,
  ensureNamespace,
  readBatches,
  readHead,
  readRecord,
  writeBatch,
  writeHead,
  writeRecord,
  type ReadRecord,
  type StoredHead,
} from "./journal.ts";
import { areAllPaused, areAllResumed, noteUnpaused, pauseAll, resumeAll } from "./pausing.ts";
import { transfer, type TransferResult } from "./transfer.ts";

export type MoveReport = {
  /** Absent: there was nothing to move. */
  readonly id?: string;
  readonly objects: number;
  /** Of the hashes of all objects. */
  readonly digest: string;
  readonly epoch: number;
  /** Clusters and ClusterClasses that were paused before the move, and still are. */
  readonly stillPaused: readonly string[];
  /** Milliseconds by step, of this run. */
  readonly durations: Readonly<Partial<Record<MoveStep, number>>>;
  readonly totalMs: number;
};

/** What a run of a move has learnt. */
type Run = {
  readonly context: MoveContext;
  readonly source: string;
  readonly target: string;
  head: StoredHead | undefined;
  record: ReadRecord | undefined;
  transferred: TransferResult | undefined;
  /** This run has written the journal. */
  begun: boolean;
  /** There is nothing to move. */
  empty: boolean;
  /** The record that this run has finished: another move may have replaced it since. */
  finished: TargetRecordData | undefined;
  fenced: boolean;
  kinds: SourceKinds | undefined;
  /** The last head that was seen, for the report: the journal is gone at the end. */
  last: StoredHead | undefined;
};

/** Guards against a specification that repeats a step for ever. */
const MOST_STEPS = 100;

export async function runMove(context: MoveContext): Moved<MoveReport> {
  const opened = await openRun(context);
  if (!opened.ok) return opened;
  const run = opened.value;
  const began = context.clock.monotonic();
  const durations = new Map<MoveStep, number>();
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const view = await observe(run);
    if (!view.ok) return view;
    const decision = nextStep(view.value);
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(reportOf(run, durations, context.clock.monotonic() - began));
    const started = context.clock.monotonic();
    context.report({ step: decision.step });
    const performed = await STEPS[decision.step](run);
    if (!performed.ok) return performed;
    durations.set(decision.step, (durations.get(decision.step) ?? 0) + context.clock.monotonic() - started);
  }
  return refusal("the move does not advance: a step has no effect on what is observed; run the command again");
}

async function openRun(context: MoveContext): Moved<Run> {
  const source = await clusterIdentity(context.source);
  if (!source.ok) return source;
  const head = await readHead(context);
  if (!head.ok) return head;
  const target = await clusterIdentity(context.target);
  if (!target.ok) return head.value === undefined ? target : unanswered(head.value, target);
  if (source.value === target.value) return refusal("both kubeconfigs lead to the same cluster; there is nothing to move");
  const clusters = { source: source.value, target: target.value };
  return ok({
    context,
    ...clusters,
    head: undefined,
    record: undefined,
    transferred: undefined,
    begun: false,
    empty: false,
    finished: undefined,
    fenced: false,
    kinds: undefined,
    last: undefined,
  });
}

/** A move has begun, and its target does not answer: what that means is part of the specification. */
function unanswered(journal: StoredHead, failed: Err<MoveFailure>): Err<MoveFailure> {
  const decision = nextStep({ ...NOTHING, journal, record: "unknown" });
  if (failed.error.kind !== "failed" || !("refused" in decision)) return failed;
  const { error } = refusal(`${decision.refused} (${failed.error.message})`);
  return err({ ...error, isUnanswered: true });
}

async function observe(run: Run): Moved<MoveView> {
  const { context } = run;
  const head = await readHead(context);
  if (!head.ok) return head;
  if (head.value !== undefined && head.value.target !== run.target)
    return refusal("an unfinished move of this namespace goes to another target; finish or abort that one first");
  run.head = head.value;
  run.last = head.value ?? run.last;
  const record = await readRecord(context.target, context.namespace);
  if (!record.ok) return head.value === undefined ? record : unanswered(head.value, record);
  run.record = record.value;
  if (head.value === undefined) return withoutJournal(run);
  const pausing = { namespace: context.namespace, head: head.value };
  const sourcePaused = await areAllPaused({ ...pausing, side: context.source });
  if (!sourcePaused.ok) return sourcePaused;
  const isCommitted = head.value.phase === "committed";
  const resumed = isCommitted ? await isTargetResumed(context, head.value) : ok(false);
  if (!resumed.ok) return resumed;
  const isRegistered = record.value?.data.id === head.value.id;
  const needsBatches = isCommitted || (!run.begun && !isRegistered);
  const batches = needsBatches ? await readBatches(context, head.value.id) : ok([1]);
  if (!batches.ok) return batches;
  return ok({
    journal: head.value,
    record: recordOf(run),
    hasBegun: run.begun || batches.value.length > 0,
    sourcePaused: sourcePaused.value,
    // only what was checked by this run, while the source was paused
    verified: run.transferred !== undefined,
    fenced: run.fenced,
    targetResumed: resumed.value,
    sourceHasObjects: batches.value.length > 0,
  });
}

/** The end of the move, or its beginning. A journal that was deleted by something else is neither: what it stood for is still there. */
function withoutJournal(run: Run): Result<MoveView, MoveFailure> {
  const { data } = run.record ?? {};
  const ours = data !== undefined && data.id === run.last?.id && data.state === "committed" ? data : undefined;
  // by another process that has continued the move
  if (ours !== undefined && ours.finishedAt !== "") run.finished ??= ours;
  const hasEnded = run.empty || run.finished !== undefined;
  const hasBegun = run.begun || run.last !== undefined;
  if (hasBegun && !hasEnded) return refusal(journalDeleted(run.context.namespace, ours !== undefined));
  return ok({ ...NOTHING, sourceHasObjects: !hasEnded, record: recordOf(run) });
}

function journalDeleted(namespace: string, isCommitted: boolean): string {
  const what = `Secret ${namespace}/${HEAD_NAME} of the source was deleted while the move ran`;
  return isCommitted
    ? `${what}, after the commit: the target owns the clusters; unpause there what is paused, delete at the source what is left, and set data.finishedAt of ConfigMap ${namespace}/${RECORD_NAME} of the target to the time`
    : `${what}, before the commit: the source owns the clusters, which may be paused there, and the target may have paused copies; delete these copies and unpause the source, then run the command again`;
}

/** A target that moves the clusters on has paused them itself: they are not unpaused there any more. */
async function isTargetResumed({ target, namespace }: MoveContext, head: StoredHead): Moved<boolean> {
  const resumed = await areAllResumed({ side: target, namespace, head });
  if (!resumed.ok || resumed.value) return resumed;
  const next = await readHead({ source: target, namespace });
  return next.ok ? ok(next.value !== undefined) : next;
}

const NOTHING: MoveView = {
  journal: undefined,
  record: "none",
  hasBegun: false,
  sourcePaused: false,
  verified: false,
  fenced: false,
  targetResumed: false,
  sourceHasObjects: false,
};

function recordOf({ record, source }: Run): TargetRecord | "none" {
  if (record === undefined) return "none";
  return { ...record.data, finished: record.data.finishedAt !== "", sameSource: record.data.source === source };
}

type Perform = (run: Run) => Moved<void>;

/** Each may be repeated after a crash at any write. */
const STEPS: Readonly<Record<Exclude<MoveStep, "done">, Perform>> = {
  "write-intent": async (run) => {
    const facts = await discoverFacts(run.context);
    if (!facts.ok) return facts;
    run.kinds = facts.value.kinds;
    const begun = await begin(run.context, { source: run.source, target: run.target }, facts.value);
    if (!begun.ok) return begun;
    run.begun = true;
    run.empty = begun.value === undefined;
    return ok(undefined);
  },
  discard: async (run) => {
    const deleted = await deleteAllBatches(run.context);
    const discarded = deleted.ok ? await withHead(run, (head) => deleteHead(run.context, head)) : deleted;
    // it was no journal of this move, which begins now
    if (discarded.ok) [run.begun, run.last] = [false, undefined];
    return discarded;
  },
  register: async (run) => {
    const { target, namespace } = run.context;
    const ensured = await ensureNamespace(target, namespace);
    const registered = ensured.ok ? await setRecord(run, "receiving") : ensured;
    if (!registered.ok) return registered;
    // a move onwards that begins later finds the record
    const traces = await traceProblems(run.context);
    if (!traces.ok) return traces;
    const { problems } = traces.value;
    return problems.length === 0 ? ok(undefined) : refusal(...problems);
  },
  pause: async (run) => {
    // what was checked before, a controller may have changed since
    run.transferred = undefined;
    return withHead(run, async (head) => {
      const noted = head.phase === "intent" ? await notePause(run.context, head) : ok(undefined);
      return noted.ok ? pauseAll({ side: run.context.source, namespace: run.context.namespace, head }) : noted;
    });
  },
  transfer: (run) =>
    withHead(run, async ({ stored: _stored, ...head }) => {
      const kinds = await kindsOf(run);
      if (!kinds.ok) return kinds;
      const transferred = await transfer(run.context, head, kinds.value);
      if (!transferred.ok) return transferred;
      run.transferred = transferred.value;
      return ok(undefined);
    }),
  "announce-commit": (run) => withHead(run, (head) => writeHead(run.context, { ...head, phase: "committing" })),
  commit: (run) => setRecord(run, "committed"),
  "note-commit": (run) => withHead(run, (head) => writeHead(run.context, { ...head, phase: "committed" })),
  "resume-target": (run) => withHead(run, (head) => resumeAll({ side: run.context.target, namespace: run.context.namespace, head })),
  "delete-source": (run) => withHead(run, ({ id }) => deleteSource(run.context, id)),
  finish: async (run) => {
    const { context } = run;
    // the source owns no more: its own record of an earlier move to it goes, too
    const own = await readRecord(context.source, context.namespace);
    if (!own.ok) return own;
    const forgotten = own.value === undefined ? ok(undefined) : await deleteRecord(context.source, context.namespace, own.value);
    if (!forgotten.ok) return forgotten;
    // from then on another move may replace the record, so that nothing but the journal may be left
    const finished = await setRecord(run, "committed", timestamp(context.clock));
    if (!finished.ok) return finished;
    run.finished = run.record?.data;
    return withHead(run, (head) => deleteHead(context, head));
  },
};

async function notePause(context: MoveContext, head: StoredHead): Moved<void> {
  const ensured = await ensureBatch(context, head.id);
  return ensured.ok ? noteUnpaused(context, head) : ensured;
}

/** Batches prove that the move may have paused the source, also when the target loses its record: so there is one before the first pause. */
async function ensureBatch(context: MoveContext, move: string): Moved<void> {
  const batches = await readBatches(context, move);
  if (!batches.ok || batches.value.length > 0) return batches.ok ? ok(undefined) : batches;
  const written = await writeBatch(context, undefined, { move, number: 0, entries: [] });
  return written.ok ? ok(undefined) : written;
}

async function kindsOf(run: Run): Moved<SourceKinds> {
  const kinds = run.kinds === undefined ? await discoverKinds(run.context.source) : ok(run.kinds);
  if (kinds.ok) run.kinds = kinds.value;
  return kinds;
}

async function withHead(run: Run, work: (head: StoredHead) => Moved<void>): Moved<void> {
  return run.head === undefined ? refusal("the journal of the move was deleted while it ran") : work(run.head);
}

function setRecord(run: Run, state: "receiving" | "committed", finishedAt = ""): Moved<void> {
  return withHead(run, async ({ id, epoch, startedAt, pausables }) => {
    const objects = run.transferred?.objects ?? run.record?.data.objects ?? 0;
    const digest = run.transferred?.digest ?? run.record?.data.digest ?? "";
    const attempt = (run.record?.data.id === id ? run.record.data.attempt : 0) + (state === "receiving" ? 1 : 0);
    const stillPaused = pausables.filter(({ wasPaused }) => wasPaused).map(({ kind: { kind }, name }) => pausableText({ kind, name }));
    const data = { id, state, epoch, source: run.source, startedAt, objects, digest, finishedAt, attempt, stillPaused };
    const written = await writeRecord(run.context, run.record, data);
    if (!written.ok) return written;
    run.record = written.value;
    run.fenced = true;
    return ok(undefined);
  });
}

function reportOf({ last, finished }: Run, durations: ReadonlyMap<MoveStep, number>, totalMs: number): MoveReport {
  const stillPaused = (last?.pausables ?? []).filter(({ wasPaused }) => wasPaused).map(({ kind, name }) => `${kind.kind} ${name}`);
  const { objects = 0, digest = "", epoch = 0 } = finished ?? {};
  return {
    ...(last === undefined ? {} : { id: last.id }),
    objects,
    digest,
    epoch,
    stillPaused,
    durations: Object.fromEntries(durations),
    totalMs,
  };
}
