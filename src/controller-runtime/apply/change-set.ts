/** The results of one apply, object by object. Controllers and the status read it; it contains no contents of objects. */
import type { FailureCause, ReconcileOutcome } from "../outcome.ts";
import { failed, settled } from "../outcome.ts";

export type ApplyFailureKind =
  /** Another manager owns a field, and `force` is false. */
  | "conflict"
  /** An object of that name exists and belongs to another client. */
  | "not-ours"
  /** The controller does not declare the kind in `owns`. */
  | "undeclared"
  /** The API server rejected it. */
  | "rejected"
  /** The API server could not be reached, or did not respond. */
  | "unreachable";

export type ApplyFailure = {
  /** "Kind namespace/name". */
  readonly object: string;
  readonly kind: ApplyFailureKind;
  readonly message: string;
  /** The field managers in a conflict. */
  readonly managers?: readonly string[];
  readonly retryAfterMs?: number;
};

export type ChangeSet = {
  readonly created: readonly string[];
  readonly configured: readonly string[];
  readonly unchanged: readonly string[];
  readonly pruned: readonly string[];
  readonly failed: readonly ApplyFailure[];
  /** Fields of other clients that were removed from our objects: `spec.rules of AuthorizationPolicy shop/api`. */
  readonly healed: readonly Healed[];
  /** Not attempted, because an earlier wave failed, or not pruned because another object failed. */
  readonly skipped: readonly string[];
  /** Objects that are being deleted in an order, and what that waits for; absent when none are left. */
  readonly deletion?: DeletionProgress;
};

/** `wave` counts from 1. "owner-changed": nothing was deleted, because the plan was made from an older owner. */
export type DeletionProgress =
  | { readonly wave: number; readonly waves: number; readonly waitsFor: readonly DeletingObject[] }
  | "owner-changed";

/** `deletedAt` is absent when its deletion was not accepted yet. */
export type DeletingObject = {
  /** "Kind namespace/name". */
  readonly object: string;
  readonly deletedAt: string | undefined;
  readonly finalizers: readonly string[];
};

export const NO_CHANGES: ChangeSet = { created: [], configured: [], unchanged: [], pruned: [], healed: [], failed: [], skipped: [] };

/** `fields`: names of the removed fields, without their values. */
export type Healed = { readonly object: string; readonly fields: string };

export type ObjectResult =
  | { readonly did: "created" | "configured" | "unchanged" | "pruned" | "skipped"; readonly object: string; readonly healed?: string }
  | { readonly did: "failed"; readonly failure: ApplyFailure };

export function changeSetOf(results: readonly ObjectResult[]): ChangeSet {
  const named = (what: Exclude<ObjectResult["did"], "failed">) => results.flatMap((result) => (result.did === what ? [result.object] : []));
  return {
    created: named("created"),
    configured: named("configured"),
    unchanged: named("unchanged"),
    pruned: named("pruned"),
    skipped: named("skipped"),
    healed: results.flatMap((result) =>
      result.did === "failed" || result.healed === undefined ? [] : [{ object: result.object, fields: result.healed }],
    ),
    failed: results.flatMap((result) => (result.did === "failed" ? [result.failure] : [])),
  };
}

const SHOWN = 3;

/** The outcome of an apply; lists the first few failures, because a condition's message is read on a terminal. */
export function outcomeOfChanges(changes: ChangeSet): ReconcileOutcome {
  if (changes.failed.length === 0) return settled;
  const shown = changes.failed.slice(0, SHOWN).map((failure) => `${failure.object}: ${failure.message}`);
  const more = changes.failed.length > SHOWN ? `; and ${changes.failed.length - SHOWN} more` : "";
  const retryAfterMs = Math.max(...changes.failed.map((failure) => failure.retryAfterMs ?? 0));
  const cause: FailureCause = {
    kind: "apply",
    message: `not applied: ${shown.join("; ")}${more}`,
    ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
  };
  return failed(cause);
}
