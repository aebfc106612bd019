/**
 * The specification of a move: from what can be observed on both sides, the next step. Pure; the mover performs exactly these steps, and the
 * tests check the invariants below over all orders of crashes, lost answers and partitions.
 *
 * 1. Never are both sides unpaused.
 * 2. Never is an object without a copy that is complete: the source deletes only after the target has answered that it owns.
 * 3. Once the target has recorded the commit, the source is never unpaused by a move again.
 * 4. After `committing` is in the journal the outcome is in doubt until the target answers: the source stays paused, and an abort is refused.
 */

/** What the journal at the source has recorded. */
export type JournalPhase = "intent" | "committing" | "committed";
/** What the target has recorded. */
export type RecordState = "receiving" | "committed" | "revoked";

export type TargetRecord = {
  readonly id: string;
  readonly state: RecordState;
  /** Its source needs it no more. */
  readonly finished: boolean;
  /** Of a move from the same source: without a journal there, it is what an ended one has left. */
  readonly sameSource: boolean;
  readonly epoch: number;
};

export type MoveView = {
  readonly journal: { readonly id: string; readonly phase: JournalPhase; readonly epoch: number } | undefined;
  /** "unknown": the target does not answer. */
  readonly record: TargetRecord | "none" | "unknown";
  /** This run has written the journal, or the journal has batches. An earlier run that was killed before it registered has paused nothing. */
  readonly hasBegun: boolean;
  /** Every Cluster and ClusterClass that is moved is paused, at the source. */
  readonly sourcePaused: boolean;
  /** Counts and hashes of both sides are equal, checked since the source is paused. */
  readonly verified: boolean;
  /** This run has written the record: a commit of an earlier run that is still on its way fails. */
  readonly fenced: boolean;
  /** What was not paused before the move is unpaused at the target. */
  readonly targetResumed: boolean;
  /** Objects are left to delete at the source. */
  readonly sourceHasObjects: boolean;
};

export type MoveStep =
  | "write-intent"
  | "discard"
  | "register"
  | "pause"
  | "transfer"
  | "announce-commit"
  | "commit"
  | "note-commit"
  | "resume-target"
  | "delete-source"
  | "finish"
  | "done";

export type MoveDecision = { readonly step: MoveStep } | { readonly refused: string };

const step = (name: MoveStep): MoveDecision => ({ step: name });
const refused = (why: string): MoveDecision => ({ refused: why });

export function nextStep(view: MoveView): MoveDecision {
  const { journal, record } = view;
  if (record === "unknown") return refused("the target does not answer; nothing is changed until it does, and the source stays as it is");
  if (journal === undefined) return view.sourceHasObjects ? step("write-intent") : step("done");
  const ours = record !== "none" && record.id === journal.id ? record.state : undefined;
  if (ours === "revoked") return refused("this move is being aborted");
  if (journal.phase === "committed" && ours === "committed") return afterCommit(view);
  // the journal of the last batch goes after the last object: nothing is left that could be in doubt
  if (journal.phase === "committed") return view.sourceHasObjects ? refused(LOST_RECORD) : step("discard");
  if (!view.sourcePaused && ours !== undefined) return step("pause");
  if (ours === "committed") return step("note-commit");
  if (ours === undefined && journal.phase !== "intent") return refused(LOST_RECORD);
  // what it found paused may have been changed by a person since
  if (ours === undefined) return view.hasBegun ? register(record, journal.epoch) : step("discard");
  if (journal.phase === "committing" && !view.fenced) return step("register");
  if (!view.verified) return step("transfer");
  return journal.phase === "intent" ? step("announce-commit") : step("commit");
}

function register(record: TargetRecord | "none", epoch: number): MoveDecision {
  // epochs rise with every move of a source: a later one has ended, so this journal was written by a request that arrived too late
  if (record !== "none" && record.sameSource && record.state === "committed" && record.epoch >= epoch) return step("discard");
  const inUse = record === "none" || record.sameSource ? undefined : recordInUse(record);
  return inUse === undefined ? step("register") : refused(inUse);
}

/** Why the record of another move may not be replaced: without it, that move can neither be finished nor undone. */
export function recordInUse({ id, state, finished }: Pick<TargetRecord, "id" | "state" | "finished">): string | undefined {
  if (state === "receiving") return `the target is receiving another move (${id}); finish or abort that one first`;
  if (state === "revoked")
    return `the target still has the record of another move that was aborted (${id}); run its abort again, or, if its source is gone, delete ConfigMap lattice-move-record there`;
  return finished
    ? undefined
    : `the target has not finished receiving another move (${id}); run that one to its end, or, if its source is gone, unpause at the target what is paused and set data.finishedAt of ConfigMap lattice-move-record there to the time`;
}

const LOST_RECORD =
  "the target has lost its record of this move, so whether it owns the clusters is in doubt; the source stays paused: compare both sides, then delete the copies of one of them";

function afterCommit(view: MoveView): MoveDecision {
  if (!view.sourcePaused) return step("pause");
  if (!view.targetResumed) return step("resume-target");
  return view.sourceHasObjects ? step("delete-source") : step("finish");
}

export type AbortStep = "revoke" | "delete-copies" | "resume-source" | "forget" | "done";
export type AbortDecision = { readonly step: AbortStep } | { readonly refused: string };

export type AbortView = Pick<MoveView, "journal" | "record"> & {
  readonly hasBatches: boolean;
  readonly targetHasCopies: boolean;
  /** What was not paused before the move is unpaused at the source. */
  readonly sourceResumed: boolean;
};

/** The way back, which ends where the target may own the clusters. The record is revoked first: a commit that is still on its way then fails. */
export function nextAbortStep({ journal, record, hasBatches, targetHasCopies, sourceResumed }: AbortView): AbortDecision {
  if (journal === undefined) return { step: "done" };
  if (record === "unknown") {
    const doubt = journal.phase === "intent" ? "its copies cannot be deleted" : "whether it owns the clusters is in doubt";
    return { refused: `the target does not answer, so ${doubt}; try again when it does` };
  }
  const ours = record !== "none" && record.id === journal.id ? record.state : undefined;
  if (journal.phase === "committed" || ours === "committed") return { refused: OWNED };
  if (ours === undefined && journal.phase === "committing") return { refused: LOST_RECORD };
  if (ours === "receiving") return { step: "revoke" };
  // also when the target has lost its record: no commit was sent
  if (targetHasCopies) return { step: "delete-copies" };
  // without record and batches the move has paused nothing: a pause is a person's
  return sourceResumed || (ours === undefined && !hasBatches) ? { step: "forget" } : { step: "resume-source" };
}

const OWNED = "the target owns the clusters already; run the same command without --abort to finish the move";
