/**
 * The scope of one call: its time limit, its caller's signal and the closing of the client, combined into one signal that records which of
 * them fired.
 *
 * `release` must be called: it stops the timer and removes the listeners from signals that may exist as long as the process.
 */
import type { Clock, Err } from "#base";
import { failure, type KubeError } from "./errors.ts";

export type CallScope = {
  readonly signal: AbortSignal;
  /** Why the scope ended; undefined while it has not. */
  ending(): Err<KubeError> | undefined;
  remainingMs(): number;
  /** Removes the time limit: a watch has begun. */
  lift(): void;
  /** Also aborts the signal: an unread body must not keep its stream open. */
  release(): void;
};

/** A reason of its own: without one, `abort` makes an exception with a stack trace at the end of each call. */
const RELEASED = "released";

export function openScope(clock: Clock, timeoutMs: number, signals: readonly (AbortSignal | undefined)[]): CallScope {
  const controller = new AbortController();
  const deadline = clock.monotonic() + timeoutMs;
  let timedOut = false;
  const cancelTimer = clock.after(timeoutMs, () => {
    timedOut = true;
    controller.abort();
  });
  const onAbort = () => controller.abort();
  const watched = signals.filter((signal) => signal !== undefined);
  for (const signal of watched) {
    if (signal.aborted) controller.abort();
    signal.addEventListener("abort", onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    ending() {
      if (!controller.signal.aborted) return undefined;
      return timedOut ? failure("timeout", `no response within ${timeoutMs} ms`) : failure("cancelled", "the call was cancelled");
    },
    remainingMs: () => deadline - clock.monotonic(),
    lift: cancelTimer,
    release() {
      cancelTimer();
      for (const signal of watched) signal.removeEventListener("abort", onAbort);
      controller.abort(RELEASED);
    },
  };
}
