/**
 * A move that is refused before its commit is undone, also when an earlier run has begun it: nothing stays paused because of it, and an object that
 * is being deleted can be finished at the source. The specification of the abort decides what that takes.
 */
import { err } from "#base";
import { abortMove } from "./abort.ts";
import type { MoveContext } from "./context.ts";
import type { Moved, MoveFailure } from "./failure.ts";
import { clusterIdentity, readHead, readRecord, type StoredHead } from "./journal.ts";

/** The failure, with what has become of the move. */
export async function rollBackRefused(context: MoveContext, refused: MoveFailure): Moved<never> {
  const left = await readHead(context);
  if (!left.ok || left.value === undefined || !(await mayRollBack(context, refused, left.value))) return err(refused);
  const undone = await abortMove(context);
  const how = undone.ok ? "the move was rolled back" : `the move could not be rolled back (${undone.error.message}); run it with --abort`;
  return err({ ...refused, message: `${refused.message}; ${how}` });
}

/** A target that does not answer, or is another one, says nothing about the move: the next run continues it. */
async function mayRollBack(context: MoveContext, refused: MoveFailure, { id, phase, target }: StoredHead): Promise<boolean> {
  if (refused.isUnanswered === true || phase === "committed") return false;
  const identity = await clusterIdentity(context.target);
  if (identity.ok && identity.value !== target) return false;
  if (phase === "intent") return true;
  // a commit was announced: only the record shows that it was not made
  const record = await readRecord(context.target, context.namespace);
  return record.ok && record.value?.data.id === id && record.value.data.state !== "committed";
}
