/** The way back of a move that the target has not committed: its copies are deleted, and the source is unpaused. */
import { ok, type Err } from "#base";
import { nextAbortStep, type AbortStep } from "../ownership/decide.ts";
import type { MoveContext } from "./context.ts";
import { copiesAt } from "./copies.ts";
import { refusal, type Moved, type MoveFailure } from "./failure.ts";
import {
  clusterIdentity,
  deleteAllBatches,
  deleteHead,
  deleteRecord,
  readBatches,
  readHead,
  readRecord,
  writeRecord,
  type ReadRecord,
  type StoredHead,
} from "./journal.ts";
import { areAllResumed, fencePauses, resumeAll } from "./pausing.ts";
import { removeObjects, type RemovedObject } from "./remove-object.ts";

type Observed = {
  readonly head: StoredHead;
  readonly record: ReadRecord | undefined;
  readonly copies: readonly RemovedObject[];
  readonly hasBatches: boolean;
};

const MOST_STEPS = 100;

/** False: there was no move to abort. */
export async function abortMove(context: MoveContext): Moved<boolean> {
  const target = await clusterIdentity(context.target);
  if (!target.ok) return unanswered(context, target);
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const head = await readHead(context);
    if (!head.ok) return head;
    if (head.value === undefined) return steps > 0 ? ok(true) : forgetRevoked(context);
    if (head.value.target !== target.value) return refusal("the unfinished move of this namespace goes to another target; name that one");
    const observed = await observe(context, head.value);
    if (!observed.ok) return observed;
    const resumed = await areAllResumed({ side: context.source, namespace: context.namespace, head: head.value });
    if (!resumed.ok) return resumed;
    const { record, copies, hasBatches } = observed.value;
    const decision = nextAbortStep({
      journal: head.value,
      record: record === undefined ? "none" : { ...record.data, finished: false, sameSource: true },
      hasBatches,
      targetHasCopies: copies.length > 0,
      sourceResumed: resumed.value,
    });
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(true);
    context.report({ step: decision.step });
    const performed = await STEPS[decision.step](context, observed.value);
    if (!performed.ok) return performed;
  }
  return refusal("the abort does not advance; run the command again");
}

/** What an abort has left that was killed before its last write. Without a journal no commit can follow. False: it has left nothing. */
async function forgetRevoked(context: MoveContext): Moved<boolean> {
  const source = await clusterIdentity(context.source);
  if (!source.ok) return source;
  const record = await readRecord(context.target, context.namespace);
  if (!record.ok || record.value === undefined) return record.ok ? ok(false) : record;
  const { state, source: from } = record.value.data;
  if (state !== "revoked" || from !== source.value) return ok(false);
  const deleted = await deleteRecord(context.target, context.namespace, record.value);
  return deleted.ok ? ok(true) : deleted;
}

/** Without a journal there is nothing to abort; with one, an abort needs the target. */
async function unanswered(context: MoveContext, failed: Err<MoveFailure>): Moved<boolean> {
  const head = await readHead(context);
  if (!head.ok) return head;
  if (head.value === undefined) return ok(false);
  const decision = nextAbortStep({ journal: head.value, record: "unknown", hasBatches: true, targetHasCopies: true, sourceResumed: false });
  return "refused" in decision ? refusal(`${decision.refused} (${failed.error.message})`) : failed;
}

async function observe(context: MoveContext, head: StoredHead): Moved<Observed> {
  const record = await readRecord(context.target, context.namespace);
  if (!record.ok) return record;
  const batches = await readBatches(context, head.id);
  if (!batches.ok) return batches;
  const sent = batches.value.flatMap(({ entries }) => entries.filter(({ kept, left }) => kept === undefined && left === undefined));
  const copies = await copiesAt(context.target, sent);
  const hasBatches = batches.value.length > 0;
  return copies.ok ? ok({ head, record: record.value, copies: copies.value, hasBatches }) : copies;
}

type Perform = (context: MoveContext, observed: Observed) => Moved<void>;

const STEPS: Readonly<Record<Exclude<AbortStep, "done">, Perform>> = {
  revoke: async (context, { record }) => {
    if (record === undefined) return ok(undefined);
    const written = await writeRecord(context, record, { ...record.data, state: "revoked" });
    return written.ok ? ok(undefined) : written;
  },
  "delete-copies": ({ target }, { copies }) => removeObjects(target, copies.toReversed()),
  "resume-source": ({ source, namespace }, { head }) => resumeAll({ side: source, namespace, head }),
  forget: async (context, { head, record, hasBatches }) => {
    // a move that is not registered has sent no pause
    const isUnregistered = record?.data.id !== head.id && !hasBatches;
    const fenced = isUnregistered ? ok(true) : await fencePauses({ side: context.source, namespace: context.namespace, head });
    // a pause that arrived late is undone first
    if (!fenced.ok || !fenced.value) return fenced.ok ? ok(undefined) : fenced;
    const deleted = await deleteAllBatches(context);
    if (!deleted.ok) return deleted;
    const forgotten = await deleteHead(context, head);
    // last: while the journal exists, the record proves that no commit can follow
    if (!forgotten.ok || record?.data.id !== head.id) return forgotten;
    return deleteRecord(context.target, context.namespace, record);
  },
};
