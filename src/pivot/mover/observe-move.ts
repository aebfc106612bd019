/** What a move observes on both sides before each step: the view by which the specification decides. */
import { err, ok, type Err, type Result } from "#base";
import { HEAD_NAME, RECORD_NAME } from "../journal/records.ts";
import { nextStep, type MoveView, type TargetRecord } from "../ownership/decide.ts";
import type { MoveContext } from "./context.ts";
import { refusal, type Moved, type MoveFailure } from "./failure.ts";
import { readBatches, readHead, readRecord, type StoredHead } from "./journal.ts";
import type { MoveRun } from "./move-run.ts";
import { areAllPaused, areAllResumed } from "./pausing.ts";

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

/** A move has begun, and its target does not answer: what that means is part of the specification. */
export function unanswered(journal: StoredHead, failed: Err<MoveFailure>): Err<MoveFailure> {
  const decision = nextStep({ ...NOTHING, journal, record: "unknown" });
  if (failed.error.kind !== "failed" || !("refused" in decision)) return failed;
  const { error } = refusal(`${decision.refused} (${failed.error.message})`);
  return err({ ...error, isUnanswered: true });
}

export async function observeMove(run: MoveRun): Moved<MoveView> {
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
function withoutJournal(run: MoveRun): Result<MoveView, MoveFailure> {
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

function recordOf({ record, source }: MoveRun): TargetRecord | "none" {
  if (record === undefined) return "none";
  return { ...record.data, finished: record.data.finishedAt !== "", sameSource: record.data.source === source };
}
