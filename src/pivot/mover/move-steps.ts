/** The steps of a move. */
import { ok, timestamp } from "#base";
import { pausableText } from "../journal/records.ts";
import type { MoveStep } from "../ownership/decide.ts";
import { begin, discoverFacts, traceProblems } from "./begin.ts";
import type { MoveContext } from "./context.ts";
import { deleteSource } from "./delete-source.ts";
import { discoverKinds, type SourceKinds } from "./discover.ts";
import { refusal, type Moved } from "./failure.ts";
import {
  deleteAllBatches,
  deleteHead,
  deleteRecord,
  ensureNamespace,
  readBatches,
  readRecord,
  writeBatch,
  writeHead,
  writeRecord,
  type StoredHead,
} from "./journal.ts";
import type { MoveRun } from "./move-run.ts";
import { noteUnpaused, pauseAll, resumeAll } from "./pausing.ts";
import { transfer } from "./transfer.ts";

type Perform = (run: MoveRun) => Moved<void>;

/** Each may be repeated after a crash at any write. */
export const MOVE_STEPS: Readonly<Record<Exclude<MoveStep, "done">, Perform>> = {
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

async function kindsOf(run: MoveRun): Moved<SourceKinds> {
  const kinds = run.kinds === undefined ? await discoverKinds(run.context.source) : ok(run.kinds);
  if (kinds.ok) run.kinds = kinds.value;
  return kinds;
}

async function withHead(run: MoveRun, work: (head: StoredHead) => Moved<void>): Moved<void> {
  return run.head === undefined ? refusal("the journal of the move was deleted while it ran") : work(run.head);
}

function setRecord(run: MoveRun, state: "receiving" | "committed", finishedAt = ""): Moved<void> {
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
