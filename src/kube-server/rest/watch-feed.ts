/**
 * Events of one watch, between the store that calls and the client that reads at its own pace.
 *
 * A client that does not keep up is closed, as on a real server: it comes back with the last version it saw. Otherwise the memory of the
 * server would belong to its slowest reader.
 */
import type { StoreEvent } from "../store/port.ts";
import { nextTurn } from "../turns.ts";
import type { EventStream } from "./request.ts";
import { EVENT_BYTES, type BacklogReader, type Retained, type WatchBacklog } from "./watch-backlog.ts";

/** The text is made when it is read: a watch without a reader costs no JSON. `undefined` is nothing to send. */
export type EventText = () => string | undefined;

/** An event in its place. Without a text it is not ready, and nothing behind it is delivered. */
export type WatchSlot = { readonly retained: Retained | undefined; readonly order: number; own: number; text: EventText | undefined };

/** Events are joined into texts of about this length, so that a long backlog is not one text. */
const CHUNK = 64 * 1024;
/** After so much text other requests get their turn. */
const TURN = 512 * 1024;
/** Delivered entries leave a gap at the front of the array, which is closed now and then. */
const GAP = 1_024;

export class WatchFeed implements EventStream, BacklogReader {
  readonly #backlog: WatchBacklog;
  readonly #onEnd: () => void;
  #slots: (WatchSlot | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  /** A watch may begin with any number of events; the limits are for what comes on top of those. */
  #most = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  /** The text that the client has not taken yet, and the order of its first event. */
  #sending = { bytes: 0, order: 0 };
  #wake: (() => void) | undefined;
  #ended = false;
  #onDrop: (() => void) | undefined;

  constructor(backlog: WatchBacklog, onEnd: () => void) {
    this.#backlog = backlog;
    this.#onEnd = onEnd;
    backlog.add(this);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get oldest(): number | undefined {
    return this.#sending.bytes > 0 ? this.#sending.order : this.#slots[this.#head]?.order;
  }

  /** Everything that the watch begins with has been pushed. */
  started(): void {
    const { events, watcherBytes } = this.#backlog.limits;
    this.#most = { events: events + this.#slots.length - this.#head, bytes: watcherBytes + this.#bytes };
  }

  /** `event`: the change that the text tells of, and keeps in memory. Without a text the slot is filled later. */
  push(text?: EventText, event?: StoreEvent): WatchSlot {
    const retained = event === undefined ? undefined : this.#backlog.retained(event);
    const slot = { text, retained, own: EVENT_BYTES, order: this.#backlog.nextOrder() };
    if (this.#ended) return slot;
    this.#slots.push(slot);
    this.#bytes += slot.own + (retained?.bytes ?? 0);
    this.#backlog.hold(retained, slot.own);
    this.#changed();
    return slot;
  }

  /** `more`: bytes that the text keeps in memory besides the objects of the store. */
  fill(slot: WatchSlot, text: EventText, more: number): void {
    if (this.#ended) return;
    slot.text = text;
    slot.own += more;
    this.#bytes += more;
    this.#backlog.hold(undefined, more);
    this.#changed();
  }

  /** What is waiting is still read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#wake?.();
  }

  /** What is waiting is given up, and so is what is being sent. */
  drop(): void {
    const sending = this.#sending.bytes > 0;
    this.end();
    this.#release();
    if (sending) this.#onDrop?.();
  }

  whenDropped(listener: () => void): void {
    this.#onDrop = listener;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    try {
      for (let sent = 0; ;) {
        const chunk = this.#take();
        if (chunk !== "") {
          yield chunk;
          sent += chunk.length;
        } else if (this.#ended) return;
        else await this.#untilChanged();
        if (sent < TURN) continue;
        sent = 0;
        await nextTurn();
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

  /** "": nothing is ready. */
  #take(): string {
    this.#sent();
    const order = this.#slots[this.#head]?.order ?? 0;
    let chunk = "";
    for (let slot = this.#slots[this.#head]; slot?.text !== undefined && chunk.length < CHUNK; slot = this.#slots[this.#head]) {
      chunk += slot.text() ?? "";
      this.#forget(slot);
      this.#slots[this.#head] = undefined; // or the gap would keep objects alive
      this.#head += 1;
    }
    this.#closeGap();
    this.#sending = { bytes: chunk.length, order };
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
    this.#backlog.release(undefined, this.#sending.bytes);
    this.#sending = { bytes: 0, order: 0 };
  }

  #release(): void {
    this.#sent();
    for (const slot of this.#slots.splice(0)) if (slot !== undefined) this.#forget(slot);
    this.#head = 0;
    this.#backlog.remove(this);
  }
}
