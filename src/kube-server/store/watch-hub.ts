/**
 * Delivers events to watchers, in the same order for all of them.
 *
 * A callback may write and so create an event during a delivery. Delivered at once, it would reach later watchers before the first event. It
 * is queued instead, and delivered before the outer write returns.
 */
import type { CollectionName, StoreEvent } from "./port.ts";

type Watcher = {
  readonly onEvent: (event: StoreEvent) => void;
  /** The last revision that was delivered or skipped; Infinity after its end. */
  seen: number;
};

export type NewWatch = {
  readonly collection: CollectionName;
  readonly onEvent: (event: StoreEvent) => void;
  /** Delivered first. */
  readonly past: readonly StoreEvent[];
  /** The last revision of `past`. */
  readonly upTo: number;
};

export class WatchHub {
  readonly #watchers = new Map<CollectionName, Set<Watcher>>();
  #waiting: StoreEvent[] = [];
  #delivering = false;

  publish(event: StoreEvent): void {
    this.#waiting.push(event);
    if (!this.#delivering) this.#deliver(() => {});
  }

  add({ collection, onEvent, past, upTo }: NewWatch): { readonly end: () => void } {
    const watcher: Watcher = { onEvent, seen: 0 };
    const replay = () => {
      for (const event of past) deliverTo(watcher, event);
      watcher.seen = Math.max(watcher.seen, upTo);
    };
    const all = this.#watchers.get(collection) ?? new Set();
    this.#watchers.set(collection, all);
    const end = () => {
      watcher.seen = Number.POSITIVE_INFINITY;
      all.delete(watcher);
      if (all.size === 0 && this.#watchers.get(collection) === all) this.#watchers.delete(collection);
    };
    all.add(watcher);
    if (this.#delivering) replay();
    else this.#deliver(replay);
    return { end };
  }

  endAll(): void {
    for (const all of this.#watchers.values()) for (const watcher of all) watcher.seen = Number.POSITIVE_INFINITY;
    this.#watchers.clear();
  }

  #deliver(begin: () => void): void {
    this.#delivering = true;
    try {
      begin();
      for (let at = 0; at < this.#waiting.length; at += 1) this.#deliverToAll(this.#waiting[at]);
      this.#waiting = [];
    } finally {
      this.#delivering = false; // a callback that throws is a bug, and must not block all others permanently
    }
  }

  #deliverToAll(event: StoreEvent | undefined): void {
    if (event === undefined) return;
    for (const watcher of this.#watchers.get(event.collection) ?? []) deliverTo(watcher, event);
  }
}

/** `seen` also prevents duplicates for a watcher that began during a delivery: its past events may include the current one. */
function deliverTo(watcher: Watcher, event: StoreEvent): void {
  if (event.revision <= watcher.seen) return;
  watcher.seen = event.revision;
  watcher.onEvent(event);
}
