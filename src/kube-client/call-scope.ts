/**
 * The life of one call: its time limit, its caller's signal and the client's own closing, joined into one signal that
 * remembers which of them ended it.
 *
 * `release` must be called: it stops the timer and takes the listeners off signals that may live as long as the process.
 */
import type { Clock, Err } from "#base";
import { failure, type KubeError } from "./errors.ts";

export type CallScope = {
  readonly signal: AbortSignal;
  /** Why the scope ended; undefined while it has not. */
  ending(): Err<KubeError> | undefined;
  remainingMs(): number;
  /** The time limit no longer counts: a watch has begun. */
  lift(): void;
  /** Also fires the signal: a body that was left unread must not keep its stream open. */
  release(): void;
};

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
      return timedOut ? failure("timeout", `no answer within ${timeoutMs} ms`) : failure("cancelled", "the call was cancelled");
    },
    remainingMs: () => deadline - clock.monotonic(),
    lift: cancelTimer,
    release() {
      cancelTimer();
      for (const signal of watched) signal.removeEventListener("abort", onAbort);
      controller.abort();
    },
  };
}
