/** Time that advances only when nothing else is left to do: timers and requests are events in one queue, so a run is the same every time. */
import type { Clock } from "#base";

type TimedEvent = { readonly due: number; readonly order: number; readonly fire: () => void };

export class VirtualTime {
  now = 0;
  #order = 0;
  readonly #events = new Set<TimedEvent>();

  after(ms: number, fire: () => void): () => void {
    const event = { due: this.now + Math.max(0, Math.ceil(ms)), order: this.#order++, fire };
    this.#events.add(event);
    return () => this.#events.delete(event);
  }

  /** Fires the next event, and lets promises settle. False: there is none. */
  async advance(): Promise<boolean> {
    if (this.#events.size === 0) await settle();
    let first: TimedEvent | undefined;
    for (const event of this.#events) {
      if (first === undefined || event.due < first.due || (event.due === first.due && event.order < first.order)) first = event;
    }
    if (first === undefined) return false;
    this.#events.delete(first);
    this.now = Math.max(this.now, first.due);
    first.fire();
    await settle();
    return true;
  }
}

/** A macrotask runs after all pending promise callbacks. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const START = Date.UTC(2026, 0, 1);

/** The clock of one process. Its wall clock may jump; its timers end with it. */
export class ProcessClock implements Clock {
  jumpedMs = 0;
  readonly #time: VirtualTime;
  readonly #isDead: () => boolean;

  constructor(time: VirtualTime, isDead: () => boolean) {
    this.#time = time;
    this.#isDead = isDead;
  }

  now(): number {
    return START + this.#time.now + this.jumpedMs;
  }

  monotonic(): number {
    return this.#time.now;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#time.after(ms, () => void (this.#isDead() || callback()));
  }
}
