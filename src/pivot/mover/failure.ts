/** Why a move has not finished. Decide by `kind`, show `message`. */
import { err, type Err, type Result } from "#base";
import type { KubeError } from "#kube-client";

export type MoveFailure = {
  /**
   * "refused": what was found does not allow the step, and a person must act. "failed": an API server did not do what was asked; the same
   * call again continues. "held": another move works on the namespace. "stopped": this process was asked to stop.
   */
  readonly kind: "refused" | "failed" | "held" | "stopped";
  readonly message: string;
  /** The lease could not be renewed in time, by a slow process or a slow API server. Another process may continue when it has run out. */
  readonly isLeaseLost?: true;
  /** An unfinished move is refused because its target does not answer: what was found is no reason against it. */
  readonly isUnanswered?: true;
  /** All of them, when there are several. */
  readonly reasons?: readonly string[];
};

export type MoveSide = "source" | "target";
export type Moved<T> = Promise<Result<T, MoveFailure>>;

export function refusal(...reasons: readonly string[]): Err<MoveFailure> {
  const [first = "refused"] = reasons;
  return err({ kind: "refused", message: first, reasons });
}

/** An error of the file system. */
export function failedAt(message: string): Err<MoveFailure> {
  return err({ kind: "failed", message });
}

/** This process was asked to stop, or has lost its lease. The same call again continues. */
export function stoppedAt(message: string): Err<MoveFailure> {
  return err({ kind: "stopped", message });
}

export function apiFailure(side: MoveSide, what: string, error: KubeError): Err<MoveFailure> {
  if (error.kind === "cancelled") return stoppedAt(`stopped before the end: ${error.message}`);
  return err({ kind: "failed", message: `the ${side} could not ${what}: ${error.message}` });
}
