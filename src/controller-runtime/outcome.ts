/**
 * How a pass over one object ended, and its consequences.
 *
 * `handlingOf` is the only place that decides about requeue, condition, event, log level and metric. A controller returns only the
 * outcome.
 */
import type { LogLevel } from "#base";
import type { ConditionStatus } from "#kube";
import type { KubeErrorKind } from "#kube-client";

/** The kind of a failure. */
export type FailureKind =
  | KubeErrorKind
  /** Objects were not applied; the change set lists them. */
  | "apply"
  /** An object of that name, or a field, belongs to another client. */
  | "not-ours"
  /** A Secret of Lattice itself has unusable content. */
  | "unusable-secret"
  /** A plan was repeated too often. */
  | "incomplete-plan"
  /** The object is being deleted, and its clean-up failed. */
  | "teardown"
  /** A bug: a controller threw. */
  | "internal";

/** Why a pass failed. `KubeError` is one by its shape. */
export type FailureCause = { readonly kind: FailureKind; readonly message: string; readonly retryAfterMs?: number };

export type Settled = { readonly kind: "settled" };
/** No problem, but something is not finished; normally a watched change triggers the next pass before `afterMs`. */
export type Waiting = { readonly kind: "waiting"; readonly reason: string; readonly message: string; readonly afterMs: number };
/** A user must act; it is only retried in case that something changed without a watch event. */
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

/** Reasons that the runtime itself sets in the Ready condition, with when each occurs. */
export const RUNTIME_REASONS = {
  Settled: "the last reconcile found everything as the spec declares it",
  InvalidSpec: "the spec contradicts itself or what the cluster offers; a person must change it",
  CompileError: "the spec could not be turned into objects with what is known now",
  ReconcileFailed: "the last pass could not finish; it is tried again with growing waits",
  TeardownFailed: "the object is being deleted and its clean-up failed; the finalizer stays until it succeeds",
  TearingDown: "the object is being deleted and its clean-up is under way; the message names what it waits for",
  DeletionStuck:
    "the object is being deleted, and one of its objects is still there long after its deletion; the message names its finalizers",
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

/** The outcome of several: the most severe, and among waits the shortest. */
export function worstOf(outcomes: readonly ReconcileOutcome[]): ReconcileOutcome {
  return outcomes.reduce((worst, next) => {
    if (worst.kind === "waiting" && next.kind === "waiting") return next.afterMs < worst.afterMs ? next : worst;
    return SEVERITY[next.kind] > SEVERITY[worst.kind] ? next : worst;
  }, settled);
}

export type Requeue =
  | { readonly kind: "after"; readonly ms: number }
  /** `ms` with ±10 % jitter: objects that settled together must not be reconciled together. */
  | { readonly kind: "spread"; readonly ms: number }
  /** The queue's back-off of this key, and no shorter than the server's retry-after. */
  | { readonly kind: "backoff"; readonly atLeastMs: number };

export type Handling = {
  readonly requeue: Requeue;
  readonly ready: { readonly status: ConditionStatus; readonly reason: string; readonly message: string } | undefined;
  /** Recorded only when the Ready condition changed, or for every failure (the recorder aggregates repetitions). */
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

/** "Unknown", not "False": a failed pass has no result about the object itself, which may still run. */
function handlingOfFailure(cause: FailureCause): Handling {
  const requeue: Requeue = { kind: "backoff", atLeastMs: cause.retryAfterMs ?? 0 };
  switch (cause.kind) {
    case "cancelled": // shutdown is no failure of the object, and a status write would be rejected anyway
      return { requeue, ready: undefined, event: undefined, level: "debug", result: "cancelled" };
    case "conflict": // the cache was older than the object: the next pass has the newer one
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
