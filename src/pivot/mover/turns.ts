/**
 * Turns of the event loop within long synchronous work. Without them no timer and no answer is handled, so that the lease is not renewed, and a stop is not
 * seen.
 */
import { sleep, type Clock } from "#base";

/** A renewal takes some turns, and has a fourth of its deadline for them. */
const TURN_MS = 20;

/** Called between two parts of the work: gives way when it is time to. False: the signal is aborted, and the work has to end. */
export function turnsOf({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): () => Promise<boolean> {
  let until = clock.monotonic() + TURN_MS;
  return async () => {
    if (clock.monotonic() < until) return !signal.aborted;
    const isGoing = await sleep(clock, 0, signal);
    until = clock.monotonic() + TURN_MS;
    return isGoing;
  };
}
