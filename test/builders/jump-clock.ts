/**
 * The system's clock, which a test can put forward: a lease of a killed process runs out at once, and everything else takes its real time. Timers
 * that have become due are called.
 */
import { systemClock, type Clock } from "#base";

type Timer = { readonly due: number; readonly call: () => void; cancel: () => void };

export class JumpClock implements Clock {
  readonly #timers = new Set<Timer>();
  #ahead = 0;

  now = (): number => systemClock.now() + this.#ahead;

  monotonic = (): number => systemClock.monotonic() + this.#ahead;

  after = (ms: number, callback: () => void): (() => void) => {
    const end = () => {
      this.#timers.delete(timer);
      timer.cancel();
    };
    const call = () => {
      end();
      callback();
    };
    const timer: Timer = { due: this.monotonic() + ms, call, cancel: systemClock.after(ms, call) };
    this.#timers.add(timer);
    return end;
  };

  jump(ms: number): void {
    this.#ahead += ms;
    const due = [...this.#timers].filter((timer) => timer.due <= this.monotonic()).toSorted((a, b) => a.due - b.due);
    for (const timer of due) if (this.#timers.has(timer)) timer.call();
  }
}
