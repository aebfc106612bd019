/**
 * The specification of an import and of a restore: a move whose source is files, which cannot answer. From what the target and the files show,
 * the next step. Pure.
 *
 * The files name the one target that takes them (the claim) before anything is written there. The commit is one write to the record at the
 * target, as in every move; before it the target is paused.
 *
 * An abort of the export revokes the files, and then looks for a claim again, before it unpauses the source; an import claims them, and then looks
 * whether they are revoked, before it registers. So one of the two sees the other, or both do.
 */
import { recordInUse, type RecordState } from "./decide.ts";

export type ReceiveView = {
  readonly id: string;
  readonly record: { readonly id: string; readonly state: RecordState; readonly finished: boolean } | "none";
  /**
   * Which cluster the files were claimed for; "ended": by this target, and that import has ended. "revoked": their export was aborted, and no other
   * cluster has claimed them, nor has this one imported them. Archives are never claimed.
   */
  readonly claim: "none" | "ours" | "ended" | "other" | "revoked";
  /** The copies were compared with the files by this run. */
  readonly verified: boolean;
  /** This run has written the record: a commit of an earlier run that is still on its way fails. */
  readonly fenced: boolean;
  /** What was not paused when the files were written is unpaused at the target. */
  readonly targetResumed: boolean;
};

export type ReceiveStep = "check-target" | "claim" | "register" | "transfer" | "commit" | "resume-target" | "finish" | "done";
export type ReceiveDecision = { readonly step: Exclude<ReceiveStep, "check-target"> } | { readonly refused: string };

const refused = (why: string): ReceiveDecision => ({ refused: why });

export function nextReceiveStep({ id, record, claim, verified, fenced, targetResumed }: ReceiveView): ReceiveDecision {
  const ours = record !== "none" && record.id === id ? record.state : undefined;
  if (claim === "other") return refused("another cluster has taken these files; only one may own the clusters");
  if (ours === "revoked") return refused("this import is being aborted; run it with --abort until that has ended");
  // once committed, the source finds the claim and stays paused
  if (claim === "revoked" && ours !== "committed") return refused(ours === undefined ? FILES_REVOKED : FILES_REVOKED_LATE);
  if (ours === undefined) {
    if (claim === "ended") return refused("this cluster has imported these files before, and does not own the clusters any more");
    const inUse = record === "none" ? undefined : recordInUse(record);
    if (inUse !== undefined) return refused(inUse);
    return { step: claim === "none" ? "claim" : "register" };
  }
  if (ours === "receiving") return { step: !fenced ? "register" : verified ? "commit" : "transfer" };
  if (!targetResumed) return { step: "resume-target" };
  const isClaimEnded = claim !== "ours" && claim !== "revoked";
  return { step: record !== "none" && record.finished && isClaimEnded ? "done" : "finish" };
}

export const FILES_REVOKED = "the export was aborted, so its source owns the clusters; export again";
const FILES_REVOKED_LATE = "the export is being aborted; run the import with --abort to undo it";

export type ReceiveAbortView = Pick<ReceiveView, "id" | "record"> & { readonly targetHasCopies: boolean };
export type ReceiveAbortStep = "revoke" | "delete-copies" | "forget" | "done";
export type ReceiveAbortDecision = { readonly step: ReceiveAbortStep } | { readonly refused: string };

export function nextReceiveAbortStep({ id, record, targetHasCopies }: ReceiveAbortView): ReceiveAbortDecision {
  if (record === "none" || record.id !== id) return { step: "done" };
  if (record.state === "committed")
    return { refused: "this cluster owns the clusters already; run the import without --abort to finish it" };
  if (record.state === "receiving") return { step: "revoke" };
  return { step: targetHasCopies ? "delete-copies" : "forget" };
}
