/**
 * How much memory the undelivered events of all watches hold, and which watch is closed when that is too much.
 *
 * An event that waits for a thousand watchers is in memory once and is counted once, by the bytes that only this event keeps alive: the state
 * that it replaced. The newest state of an object is counted by the store, texts that are being sent by their connection.
 */
import { OldestFirst, type OrderedReader } from "./oldest-first.ts";
import type { StoreEvent } from "../store/index.ts";

export type BacklogLimits = {
  /** How many events may wait for one watcher, beyond those that it began with. */
  readonly events: number;
  /** How many bytes may wait for one watcher, beyond those that it began with. */
  readonly watcherBytes: number;
  /** How many bytes may wait for all watchers together. */
  readonly totalBytes: number;
};

const BACKLOG_LIMITS: BacklogLimits = { events: 10_000, watcherBytes: 16 * 1024 * 1024, totalBytes: 64 * 1024 * 1024 };

/** What one waiting event costs a watcher, without the objects. */
export const EVENT_BYTES = 128;

/** An event that at least one watcher has not received yet. */
export type Retained = { readonly bytes: number; holders: number };

export interface BacklogReader extends OrderedReader {
  /** Closes the watch and discards its undelivered events. */
  drop(): void;
}

export class WatchBacklog {
  readonly limits: BacklogLimits;
  readonly #retained = new WeakMap<StoreEvent, Retained>();
  readonly #readers = new OldestFirst<BacklogReader>();
  #last: { readonly event: StoreEvent; readonly retained: Retained } | undefined;
  #bytes = 0;
  #order = 0;

  constructor(limits: Partial<BacklogLimits> = {}) {
    this.limits = { ...BACKLOG_LIMITS, ...limits };
  }

  /** Bytes that wait for all watchers together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Later events have a higher order. */
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /** One value per event, shared by its watchers. Cached, because an event is sent to all watchers in a row. */
  retained(event: StoreEvent): Retained {
    if (this.#last?.event === event) return this.#last.retained;
    const retained = this.#retained.get(event) ?? { bytes: event.replacedBytes, holders: 0 };
    this.#retained.set(event, retained);
    this.#last = { event, retained };
    return retained;
  }

  hold(retained: Retained | undefined, own: number): void {
    this.#bytes += own;
    if (retained === undefined) return;
    if (retained.holders === 0) this.#bytes += retained.bytes;
    retained.holders += 1;
  }

  release(retained: Retained | undefined, own: number): void {
    this.#bytes -= own;
    if (retained === undefined) return;
    retained.holders -= 1;
    if (retained.holders === 0) this.#bytes -= retained.bytes;
  }

  add(reader: BacklogReader): void {
    this.#readers.add(reader);
  }

  remove(reader: BacklogReader): void {
    this.#readers.remove(reader);
  }

  /** Closes the watchers with the oldest undelivered events until the rest is within the limit. */
  keepWithinLimit(): void {
    while (this.#bytes > this.limits.totalBytes) {
      const reader = this.#readers.first();
      if (reader === undefined) return;
      reader.drop();
    }
  }
}
