/**
 * Recent events, for resumed watches and for pages of a list: bounded by a number of events and by memory.
 *
 * Only replaced and deleted objects count as memory: the newest state of an object is in its collection anyway. So a
 * million creations need little more memory than the objects themselves.
 */
import { EventQueue } from "./event-queue.ts";
import type { CollectionName, StoreEvent, Stored } from "./port.ts";

export type HistoryEntry = {
  readonly event: StoreEvent;
  /** The state that this event replaced, with its revision. */
  readonly before: Stored | undefined;
};

export type HistoryLimit = {
  /** Largest number of events. */
  readonly events: number;
  /** Approximate limit of bytes of replaced and deleted objects. */
  readonly bytes: number;
};

const DEFAULT_HISTORY: HistoryLimit = { events: 100_000, bytes: 32 * 1024 * 1024 };

export class History {
  readonly #limit: HistoryLimit;
  readonly #all = new EventQueue<HistoryEntry>();
  readonly #byCollection = new Map<CollectionName, EventQueue<HistoryEntry>>();
  #bytes = 0;
  #oldest: number;
  #pinned = Number.POSITIVE_INFINITY;

  constructor(oldest: number, limit: Partial<HistoryLimit> = {}) {
    this.#oldest = oldest;
    this.#limit = { ...DEFAULT_HISTORY, ...limit };
  }

  /** The oldest revision after which all events are present. */
  get oldest(): number {
    return this.#oldest;
  }

  add(event: StoreEvent, before: Stored | undefined): void {
    const entry = { event, before };
    this.#all.push(entry);
    const own = this.#byCollection.get(event.collection) ?? new EventQueue<HistoryEntry>();
    this.#byCollection.set(event.collection, own);
    own.push(entry);
    this.#bytes += event.replacedBytes;
    this.#keepWithinLimit();
  }

  /** Events of the collection after the revision, oldest first. */
  after(collection: CollectionName, revision: number): readonly HistoryEntry[] {
    return this.#byCollection.get(collection)?.after(revision) ?? [];
  }

  forget(upTo: number): void {
    for (let first = this.#all.first; first !== undefined && first.event.revision <= upTo; first = this.#all.first)
      this.#forgetFirst(first);
    this.#oldest = Math.max(this.#oldest, upTo);
  }

  /** Events after a pinned revision are kept despite the limits: the state at this revision is being read page by page. */
  pin(revision: number | undefined): void {
    this.#pinned = revision ?? Number.POSITIVE_INFINITY;
    this.#keepWithinLimit();
  }

  #keepWithinLimit(): void {
    const { events, bytes } = this.#limit;
    for (let first = this.#all.first; first !== undefined; first = this.#all.first) {
      if ((this.#all.size <= events && this.#bytes <= bytes) || first.event.revision > this.#pinned) return;
      this.#forgetFirst(first);
    }
  }

  /** The first event of all is also the first of its collection. */
  #forgetFirst({ event }: HistoryEntry): void {
    const own = this.#byCollection.get(event.collection);
    this.#all.dropFirst();
    own?.dropFirst();
    if (own?.size === 0) this.#byCollection.delete(event.collection);
    this.#bytes -= event.replacedBytes;
    this.#oldest = event.revision;
  }
}
