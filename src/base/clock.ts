/**
 * Time as a port. Code that waits takes a Clock, so that a test can advance the time itself.
 *
 * `monotonic` is for elapsed time, such as leases and deadlines: the wall clock may jump.
 */
import { memoize } from "./memo.ts";

/** The time, and timers. */
export interface Clock {
  /** Milliseconds since 1970, for timestamps that people and other machines read. */
  now(): number;
  /** Milliseconds since a fixed time in the past; never decreases. */
  monotonic(): number;
  /** CPU time of this thread in milliseconds; it does not advance while other processes run. Optional. */
  processorTime?(): number;
  /** Calls back after `ms`, or after 25 days if that is sooner; the returned function cancels. The caller must cancel: a pending timer keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

/** The longest delay of setTimeout, almost 25 days; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  processorTime() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves true when the time has passed, false when the signal is aborted first. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const onAbort = () => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Cached: an object has several timestamps, and a busy server writes many objects per second. */
const textOfSecond = memoize({ limit: 4 }, (second: number) => `${new Date(second * 1_000).toISOString().slice(0, -5)}Z`);

export function timestamp(clock: Clock): string {
  return timestampOf(clock.now());
}

/** RFC 3339, in whole seconds. */
export function timestampOf(milliseconds: number): string {
  return textOfSecond(Math.floor(milliseconds / 1_000));
}

/** Milliseconds since 1970; NaN for an invalid time. */
export function millisecondsOf(time: string): number {
  return Date.parse(time);
}
