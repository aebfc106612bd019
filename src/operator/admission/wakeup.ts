/** Ends the wait of a loop before its time. Calls before the wait count too: none is missed. */
import { sleep, type Clock } from "#base";

export class Wakeup {
  #called = false;
  #end: () => void = () => {};

  wake(): void {
    this.#called = true;
    this.#end();
  }

  /** Resolves after `ms`, or as soon as it is woken; false: the signal fired first. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
    const waking = new AbortController();
    this.#end = () => waking.abort();
    if (!this.#called) await sleep(clock, ms, AbortSignal.any([signal, waking.signal]));
    this.#called = false;
    return !signal.aborted;
  }
}
