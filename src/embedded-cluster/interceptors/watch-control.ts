/**
 * Watches that a test controls: each one that begins while the interceptor is active can be ended, expired or stalled later, as a server or
 * a network may do at any time.
 */
import type { Json } from "#kube";
import type { Action } from "../actions/index.ts";
import { statusOf } from "./failures.ts";
import type { Interception, Interceptor } from "./interceptor.ts";

/**
 * The watches of one `cluster.interceptWatches`. Interruptions affect the watches that are open at that time, not later ones.
 *
 * @example
 * using watches = cluster.interceptWatches({ resource: "pods" });
 * watches.end(); // an informer resumes from the last resourceVersion it saw
 */
export type WatchInterception = Interception & {
  /** How many of the watches are open. */
  readonly open: number;
  /** The server closes the watch, as it may at any time. */
  end(): void;
  /** The watch gets an ERROR event with 410 Expired and is closed: its client must list again. */
  expire(): void;
  /** The watch stays open and delivers nothing more, not even its end at `timeoutSeconds`. */
  stall(): void;
};

export function watchInterception(interception: Interception, control: WatchControl): WatchInterception {
  return {
    get calls() {
      return interception.calls;
    },
    get open() {
      return control.open;
    },
    end: () => control.interrupt("end"),
    expire: () => control.interrupt("expire"),
    stall: () => control.interrupt("stall"),
    remove: () => interception.remove(),
    [Symbol.dispose]: () => interception.remove(),
  };
}

type Interruption = "end" | "expire" | "stall";

export class WatchControl {
  readonly #open = new Set<ControlledWatch>();

  get open(): number {
    return this.#open.size;
  }

  interrupt(how: Interruption): void {
    for (const watch of this.#open) watch.interrupt(how);
  }

  readonly interceptor: Interceptor = async (action, next, { signal }) => {
    const answer = await next();
    if (answer.kind !== "watch") return answer;
    const watch = new ControlledWatch(answer.events, signal);
    return { kind: "watch", events: this.#follow(watch, action, signal) };
  };

  async *#follow(watch: ControlledWatch, action: Action, signal: AbortSignal): AsyncGenerator<Json, void> {
    this.#open.add(watch);
    const forget = (): boolean => this.#open.delete(watch);
    // the stream of a client that disconnects may be neither read to its end nor returned
    signal.addEventListener("abort", forget, { once: true });
    try {
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) yield event;
      if (watch.interruption === "expire") yield { type: "ERROR", object: statusOf("gone", action, {}) as unknown as Json };
    } finally {
      signal.removeEventListener("abort", forget);
      forget();
      watch.close();
    }
  }
}

class ControlledWatch {
  readonly #events: AsyncIterator<Json>;
  readonly #signal: AbortSignal;
  #wake: () => void = () => {};
  #interruption: Interruption | undefined;

  constructor(events: AsyncIterable<Json>, signal: AbortSignal) {
    this.#events = events[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  get interruption(): Interruption | undefined {
    return this.#interruption;
  }

  interrupt(how: Interruption): void {
    this.#interruption = how;
    this.#wake();
  }

  /** The next event; undefined when the watch has ended. */
  async next(): Promise<Json | undefined> {
    if (this.#interruption === undefined) {
      const event = await this.#nextOrInterruption();
      if (this.#interruption === undefined) return event;
    }
    if (this.#interruption === "stall") await this.#untilReleased();
    return undefined;
  }

  close(): void {
    // not awaited: a stream that waits for its next event returns only after that event
    void this.#events.return?.();
  }

  #nextOrInterruption(): Promise<Json | undefined> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      this.#events.next().then(({ done, value }) => resolve(done === true ? undefined : value), reject);
    });
  }

  /** A stalled watch ends when its client closes it, or when it is interrupted in another way. */
  #untilReleased(): Promise<void> {
    return new Promise((resolve) => {
      const release = (): void => {
        this.#signal.removeEventListener("abort", release);
        resolve();
      };
      this.#wake = release;
      if (this.#signal.aborted) return release();
      this.#signal.addEventListener("abort", release, { once: true });
    });
  }
}
