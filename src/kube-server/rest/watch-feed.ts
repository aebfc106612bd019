/**
 * The queue of events of one watch, between the store and a client that reads at its own speed.
 *
 * The watch of a client that reads too slowly is closed, as on a real server; the client can resume it from the last resourceVersion. This
 * limits the memory of the server.
 */
import type { TurnBudget } from "../turns.ts";
import type { EventStream } from "../protocol/request.ts";
import { EVENT_BYTES, type BacklogReader, type Retained, type WatchBacklog } from "../protocol/watch-backlog.ts";
import type { StoreEvent } from "../store/index.ts";

/** The text is created when it is read, so that a watch without a reader serializes nothing. `undefined`: nothing to send. */
export type EventText = () => string | undefined;

/** One or several queued events. Without a text the slot is not ready, and later slots are not delivered. */
export type WatchSlot = {
  readonly retained: Retained | undefined;
  readonly order: number;
  /** How many events are left: `text` is called once for each. */
  count: number;
  own: number;
  text: EventText | undefined;
};

const POINTER_BYTES = 8;

/** Events are joined into texts of about this length, so that a long backlog is not one text. */
const CHUNK = 64 * 1024;
/** Delivered slots leave a gap at the front of the array, which is removed at this size. */
const GAP = 1_024;

export class WatchFeed implements EventStream, BacklogReader {
  readonly #backlog: WatchBacklog;
  readonly #turns: TurnBudget;
  readonly #onEnd: () => void;
  #slots: (WatchSlot | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  /** A watch may begin with any number of events; the limits are for later ones. */
  #most = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  /** The text that is being sent to the client, and the order of its first event. */
  #sendingBytes = 0;
  #sendingOrder = 0;
  #wake: (() => void) | undefined;
  #ended = false;
  #onDrop: (() => void) | undefined;

  constructor(backlog: WatchBacklog, turns: TurnBudget, onEnd: () => void) {
    this.#backlog = backlog;
    this.#turns = turns;
    this.#onEnd = onEnd;
    backlog.add(this);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get oldest(): number | undefined {
    return this.#sendingBytes > 0 ? this.#sendingOrder : this.#slots[this.#head]?.order;
  }

  /** Called when all initial events have been pushed. */
  started(): void {
    const { events, watcherBytes } = this.#backlog.limits;
    this.#most = { events: events + this.#slots.length - this.#head, bytes: watcherBytes + this.#bytes };
  }

  /** `event`: the change of which the text is made, and which it keeps in memory. Without a text the slot is filled later. */
  push(text?: EventText, event?: StoreEvent): WatchSlot {
    const retained = event === undefined ? undefined : this.#backlog.retained(event);
    const slot = { text, retained, count: 1, own: EVENT_BYTES, order: this.#backlog.nextOrder() };
    this.#add(slot);
    return slot;
  }

  /** Many events in one slot: a list of stored objects. */
  pushAll<T>(items: readonly T[], textOf: (item: T) => string): void {
    if (items.length === 0) return;
    let at = 0;
    const text = (): string | undefined => {
      const item = items[at];
      at += 1;
      return item === undefined ? undefined : textOf(item);
    };
    const own = EVENT_BYTES + POINTER_BYTES * items.length;
    this.#add({ text, retained: undefined, count: items.length, own, order: this.#backlog.nextOrder() });
  }

  #add(slot: WatchSlot): void {
    if (this.#ended) return;
    this.#slots.push(slot);
    this.#bytes += slot.own + (slot.retained?.bytes ?? 0);
    this.#backlog.hold(slot.retained, slot.own);
    this.#changed();
  }

  /** `more`: bytes that the text keeps in memory in addition to the stored objects. */
  fill(slot: WatchSlot, text: EventText, more: number): void {
    if (this.#ended) return;
    slot.text = text;
    slot.own += more;
    this.#bytes += more;
    this.#backlog.hold(undefined, more);
    this.#changed();
  }

  /** Queued events are still delivered. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#wake?.();
  }

  /** Queued events are discarded, and sending is aborted. */
  drop(): void {
    const sending = this.#sendingBytes > 0;
    this.end();
    this.#release();
    if (sending) this.#onDrop?.();
  }

  whenDropped(listener: () => void): void {
    this.#onDrop = listener;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    try {
      for (;;) {
        this.#sent();
        if (this.#slots[this.#head]?.text === undefined) {
          if (this.#ended) return;
          await this.#untilChanged();
          continue;
        }
        const pause = this.#turns.pause();
        if (pause !== undefined) await pause;
        const chunk = this.#take();
        if (chunk !== "") yield chunk;
      }
    } finally {
      this.end();
      this.#release();
    }
  }

  #changed(): void {
    if (this.#slots.length - this.#head > this.#most.events || this.#bytes > this.#most.bytes) this.drop();
    this.#backlog.keepWithinLimit();
    this.#wake?.();
  }

  #untilChanged(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Takes ready events up to the size of a chunk. */
  #take(): string {
    const order = this.#slots[this.#head]?.order ?? 0;
    let chunk = "";
    for (let slot = this.#slots[this.#head]; slot?.text !== undefined && chunk.length < CHUNK; slot = this.#slots[this.#head]) {
      chunk += slot.text() ?? "";
      slot.count -= 1;
      if (slot.count > 0) continue;
      this.#forget(slot);
      this.#slots[this.#head] = undefined; // otherwise the gap would keep objects alive
      this.#head += 1;
    }
    this.#closeGap();
    this.#sendingBytes = chunk.length;
    this.#sendingOrder = order;
    this.#backlog.hold(undefined, chunk.length);
    if (chunk.length > CHUNK) this.#backlog.keepWithinLimit();
    return chunk;
  }

  #closeGap(): void {
    if (this.#head === this.#slots.length) this.#slots = [];
    else if (this.#head < GAP || this.#head < this.#slots.length / 2) return;
    else this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }

  #forget({ retained, own }: WatchSlot): void {
    this.#bytes -= own + (retained?.bytes ?? 0);
    this.#backlog.release(retained, own);
  }

  #sent(): void {
    this.#backlog.release(undefined, this.#sendingBytes);
    this.#sendingBytes = 0;
  }

  #release(): void {
    this.#sent();
    for (const slot of this.#slots.splice(0)) if (slot !== undefined) this.#forget(slot);
    this.#head = 0;
    this.#backlog.remove(this);
  }
}
