/**
 * How a pass over one object ended, and everything that follows from it.
 *
 * `handlingOf` is the only place that decides about requeue, condition, event, log level and metric. A controller says what
 * happened and never how loud to be about it.
 */
import type { LogLevel } from "#base";
import type { ConditionStatus } from "#kube";
import type { KubeErrorKind } from "#kube-client";

/** What kind of thing made a pass fail. */
export type FailureKind =
  | KubeErrorKind
  /** Objects were not applied; the change set names them. */
  | "apply"
  /** Something with that name or field belongs to another client. */
  | "not-ours"
  /** A Secret that Lattice keeps for itself has unusable content. */
  | "unusable-secret"
  /** A plan asked to be made again too often. */
  | "incomplete-plan"
  /** The object is being deleted, and its clean-up failed. */
  | "teardown"
  /** A bug: a controller threw. */
  | "internal";

/** Why a pass failed. `KubeError` is one by its shape. */
export type FailureCause = { readonly kind: FailureKind; readonly message: string; readonly retryAfterMs?: number };

export type Settled = { readonly kind: "settled" };
/** Nothing is wrong and nothing is left to do but wait; a watched change comes earlier than `afterMs` when all goes well. */
export type Waiting = { readonly kind: "waiting"; readonly reason: string; readonly message: string; readonly afterMs: number };
/** A person must act; trying again is only for the case that the world changed without a watch telling us. */
export type Stalled = { readonly kind: "stalled"; readonly reason: string; readonly message: string; readonly afterMs: number };
export type Failed = { readonly kind: "failed"; readonly cause: FailureCause };
export type ReconcileOutcome = Settled | Waiting | Stalled | Failed;

/** Failures are retried by the queue's RETRY_BACKOFF, from 5 seconds on. */
export const REQUEUE = {
  invalidSpecMs: 300_000,
  compileErrorMs: 60_000,
  settledMs: 60_000,
  /** The laptop fleet runs many clusters on two cores. */
  settledInFleetMs: 600_000,
} as const;

/** Reasons that the runtime itself puts into the Ready condition. Each says when it surfaces. */
export const RUNTIME_REASONS = {
  Settled: "the last reconcile found everything as the spec declares it",
  InvalidSpec: "the spec contradicts itself or what the cluster offers; a person must change it",
  CompileError: "the spec could not be turned into objects with what is known now",
  ReconcileFailed: "the last pass could not finish; it is tried again with growing waits",
  TeardownFailed: "the object is being deleted and its clean-up failed; the finalizer stays until it succeeds",
  TearingDown: "the object is being deleted and its clean-up is under way",
  ForeignFieldsRemoved:
    "event only: another client added fields to an object of Lattice that decides who reaches whom, or that would leave the mesh by them; they were removed",
  InternalError: "Lattice has a bug: a controller threw; its log has the details",
} as const satisfies Record<string, string>;

export type RuntimeReason = keyof typeof RUNTIME_REASONS;

export const settled: ReconcileOutcome = { kind: "settled" };

export function waiting(reason: string, afterMs: number, message = ""): Waiting {
  return { kind: "waiting", reason, message, afterMs };
}

export function stalled(reason: string, message = "", afterMs: number = REQUEUE.invalidSpecMs): Stalled {
  return { kind: "stalled", reason, message, afterMs };
}

export function failed(cause: FailureCause): Failed {
  return { kind: "failed", cause };
}

const SEVERITY = { settled: 0, waiting: 1, stalled: 2, failed: 3 } as const satisfies Record<ReconcileOutcome["kind"], number>;

/** The outcome that speaks for all of them: the most severe, and among waits the shortest. */
export function worstOf(outcomes: readonly ReconcileOutcome[]): ReconcileOutcome {
  return outcomes.reduce((worst, next) => {
    if (worst.kind === "waiting" && next.kind === "waiting") return next.afterMs < worst.afterMs ? next : worst;
    return SEVERITY[next.kind] > SEVERITY[worst.kind] ? next : worst;
  }, settled);
}

export type Requeue =
  | { readonly kind: "after"; readonly ms: number }
  /** `ms` spread by ±10 %: what settled together must not come back together. */
  | { readonly kind: "spread"; readonly ms: number }
  /** The queue's growing wait for this key, and no shorter than the server asked for. */
  | { readonly kind: "backoff"; readonly atLeastMs: number };

export type Handling = {
  readonly requeue: Requeue;
  readonly ready: { readonly status: ConditionStatus; readonly reason: string; readonly message: string } | undefined;
  /** Sent only when the Ready condition changed, or for every failure (the recorder folds repeats). */
  readonly event:
    | { readonly type: "Normal" | "Warning"; readonly reason: string; readonly note: string; readonly when: "changed" | "always" }
    | undefined;
  readonly level: LogLevel;
  /** The `result` label of `lattice_reconcile_total`. */
  readonly result: ReconcileOutcome["kind"] | "cancelled" | "bug";
};

export function handlingOf(outcome: ReconcileOutcome, settledMs: number = REQUEUE.settledMs): Handling {
  switch (outcome.kind) {
    case "settled":
      return {
        requeue: { kind: "spread", ms: settledMs },
        ready: { status: "True", reason: "Settled", message: "" },
        event: { type: "Normal", reason: "Settled", note: "everything is as the spec wants it", when: "changed" },
        level: "debug",
        result: "settled",
      };
    case "waiting":
      return {
        requeue: { kind: "after", ms: outcome.afterMs },
        ready: { status: "False", reason: outcome.reason, message: outcome.message },
        event: { type: "Normal", reason: outcome.reason, note: outcome.message, when: "changed" },
        level: "info",
        result: "waiting",
      };
    case "stalled":
      return {
        requeue: { kind: "after", ms: outcome.afterMs },
        ready: { status: "False", reason: outcome.reason, message: outcome.message },
        event: { type: "Warning", reason: outcome.reason, note: outcome.message, when: "changed" },
        level: "warn",
        result: "stalled",
      };
    case "failed":
      return handlingOfFailure(outcome.cause);
  }
}

/** "Unknown", not "False": a pass that failed reports nothing about the object itself, which may run as well as before. */
function handlingOfFailure(cause: FailureCause): Handling {
  const requeue: Requeue = { kind: "backoff", atLeastMs: cause.retryAfterMs ?? 0 };
  switch (cause.kind) {
    case "cancelled": // shutdown is no failure of the object, and a status write would be refused anyway
      return { requeue, ready: undefined, event: undefined, level: "debug", result: "cancelled" };
    case "conflict": // a cache is often older than the object: the next pass sees the newer one
      return { requeue, ready: undefined, event: undefined, level: "info", result: "failed" };
    case "internal":
      return { requeue, ...failureNotes("InternalError", cause.message), level: "error", result: "bug" };
    case "teardown":
      return { requeue, ...failureNotes("TeardownFailed", cause.message), level: "warn", result: "failed" };
    case "apply":
    case "not-ours":
    case "unusable-secret":
    case "incomplete-plan":
    case "bad-request":
    case "unauthorized":
    case "forbidden":
    case "not-found":
    case "already-exists":
    case "gone":
    case "invalid":
    case "too-many-requests":
    case "unsupported-media-type":
    case "server-error":
    case "unavailable":
    case "timeout":
    case "network":
    case "protocol":
      return { requeue, ...failureNotes("ReconcileFailed", cause.message), level: "warn", result: "failed" };
  }
}

function failureNotes(reason: RuntimeReason, message: string): Pick<Handling, "ready" | "event"> {
  return {
    ready: { status: "Unknown", reason, message },
    event: { type: "Warning", reason, note: message, when: "always" },
  };
}
