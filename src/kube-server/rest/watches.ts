/** Watch: initial events, selection, bookmarks, timeout. */
import { ok, whenOk, type Later, type Result } from "#base";
import { approximateSize } from "../store/approximate-size.ts";
import { fillConversionCache, withMetadataOf } from "../protocol/convert-objects.ts";
import { inVersion, type RequestContext } from "../protocol/core.ts";
import { listOptions, type ListOptions } from "./list-options.ts";
import { withMetadata } from "../protocol/object-meta.ts";
import { isSelected, parseVersion, readPage, unparsableVersion } from "./reads.ts";
import type { PendingResponse } from "../protocol/respond.ts";
import { expired, notAcceptable, errorWithoutReason, type Failure } from "../protocol/status.ts";
import { includeObject } from "../protocol/table.ts";
import { WatchFeed, type EventText } from "./watch-feed.ts";
import { warningTexts } from "../protocol/warnings.ts";
import { eventWriter, type EventWriter } from "./watch-events.ts";
import type { RevisionError, StoreEvent } from "../store/index.ts";

/** By default a real server ends watches after 30 to 60 minutes. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
const BOOKMARK_EVERY_MS = 60_000;
/** Time between the last bookmark and the end. */
const LAST_BOOKMARK_MS = 2_000;
const NO_TEXT: EventText = () => undefined;

export function watch(call: RequestContext): PendingResponse {
  if (call.output.form === "yaml")
    return notAcceptable(["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"]);
  const options = listOptions(call.request, call.target.type, true);
  if (!options.ok) return options;
  const include = includeObject(call.request.query);
  if (!include.ok) return include;
  const version = parseVersion(options.value.resourceVersion);
  if (!version.ok) return errorWithoutReason(unparsableVersion(options.value.resourceVersion));
  const writer = eventWriter(call, include.value);
  return whenOk(new Watch(call, options.value, writer).start(version.value), (chunks) => {
    const headers = { "content-type": "application/json" };
    return ok({ status: 200, headers, warnings: warningTexts(call.warnings), body: { kind: "stream", chunks } });
  });
}

class Watch {
  readonly #call: RequestContext;
  readonly #options: ListOptions;
  readonly #writer: EventWriter;
  readonly #feed: WatchFeed;
  readonly #timers = new Set<() => void>();
  #endStore: (() => void) | undefined;
  #from = 0;
  #bookmarked = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(call: RequestContext, options: ListOptions, writer: EventWriter) {
    this.#call = call;
    this.#options = options;
    this.#writer = writer;
    this.#feed = new WatchFeed(call.core.backlog, call.core.turns, () => this.#stop());
  }

  start(from: number): Later<Result<WatchFeed, Failure>> {
    const { store } = this.#call.core;
    const fresh = from === 0;
    const initial = this.#options.sendInitialEvents ?? fresh;
    const begin = initial || fresh ? store.revision : from;
    if (!initial || from > store.revision) return this.#begin(from, begin);
    return whenOk(this.#sendInitial(), (listed) => this.#begin(from, listed));
  }

  #begin(from: number, begin: number): Result<WatchFeed, Failure> {
    const { core, signal } = this.#call;
    this.#from = from;
    this.#bookmarked = Math.max(begin, from);
    const watching = this.#subscribe(from > core.store.revision ? core.store.revision : begin);
    if (!watching.ok) {
      this.#refuse(watching.error, from);
      return ok(this.#feed);
    }
    this.#endStore = watching.value.end;
    this.#feed.started();
    this.#startTimers();
    this.#endWith(signal, () => this.#feed.drop());
    this.#endWith(core.closing, () => this.#feed.end());
    return ok(this.#feed);
  }

  #endWith(signal: AbortSignal, end: () => void): void {
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    this.#timers.add(() => signal.removeEventListener("abort", end));
  }

  #subscribe(from: number): Result<{ readonly end: () => void }, RevisionError> {
    const { core, target } = this.#call;
    return core.store.watch({ collection: target.type.collection, from, onEvent: (event) => this.#onEvent(event) });
  }

  /** Returns the revision of the initial events: later events continue from it. */
  #sendInitial(): Later<Result<number, Failure>> {
    const all: ListOptions = { ...this.#options, limit: 0, continue: "", resourceVersion: "", resourceVersionMatch: "" };
    return whenOk(readPage(this.#call, all), ({ objects, metadata }) => {
      const revision = Number(metadata.resourceVersion);
      this.#feed.pushAll(objects, (object) => this.#writer.event("ADDED", object));
      if (this.#options.bookmarks) this.#bookmark(revision, true);
      return ok(revision);
    });
  }

  #onEvent(event: StoreEvent): void {
    const { type } = this.#call.target;
    if (type.conversion !== undefined) return this.#convertFirst(event);
    const text = this.#textOf(event);
    if (text !== undefined) this.#feed.push(text, event);
  }

  /** An event waits in its slot for its conversion, and later events wait too. Converted objects are counted in addition to stored ones. */
  #convertFirst(event: StoreEvent): void {
    const { type } = this.#call.target;
    const { object, previous } = event;
    const slot = this.#feed.push(undefined, event);
    this.#queue = this.#queue.then(async () => {
      if (this.#feed.ended) return;
      const ready = await fillConversionCache(type, [object, previous]);
      if (ready.ok) return this.#feed.fill(slot, this.#textOf(event) ?? NO_TEXT, approximateSize(inVersion(type, object)));
      this.#feed.fill(slot, () => this.#writer.failure(ready.error), 0);
      return this.#feed.end();
    });
  }

  /** With a selector, an update may be ADDED or DELETED. DELETED has the old object with the resourceVersion of the update. */
  #textOf(event: StoreEvent): EventText | undefined {
    const { type } = this.#call.target;
    const { object, previous, revision } = event;
    const is = event.type !== "DELETED" && isSelected(this.#call, this.#options, object);
    const before = event.type === "DELETED" ? object : previous;
    const was = before !== undefined && isSelected(this.#call, this.#options, before);
    if (revision <= this.#from) return undefined; // a future resourceVersion: earlier events are not requested
    if (is) return () => this.#writer.event(was ? "MODIFIED" : "ADDED", inVersion(type, object));
    if (!was) return undefined;
    const gone = () => withMetadataOf(type, withMetadata(before, { resourceVersion: String(revision) }), before);
    return () => this.#writer.event("DELETED", gone());
  }

  #bookmark(revision: number, initialEnd = false): void {
    this.#bookmarked = revision;
    this.#feed.push(() => this.#writer.bookmark(revision, initialEnd));
  }

  /** The resourceVersion is no longer in the history: the response is 200 with a single ERROR event. */
  #refuse(error: RevisionError, asked: number): void {
    const known = error.kind === "compacted" ? error.oldest : error.current;
    this.#feed.push(() => this.#writer.failure(expired(`too old resource version: ${asked} (${known})`)));
    this.#feed.end();
  }

  #startTimers(): void {
    const { clock, random } = this.#call.core;
    const asked = this.#options.timeoutSeconds;
    const timeout = asked === undefined || asked === 0 ? DEFAULT_TIMEOUT_MS * (1 + random()) : asked * 1_000;
    this.#timers.add(clock.after(Math.max(0, timeout), () => this.#feed.end()));
    if (!this.#options.bookmarks) return;
    if (timeout > LAST_BOOKMARK_MS) this.#timers.add(clock.after(timeout - LAST_BOOKMARK_MS, () => this.#bookmarkIfMoved()));
    this.#everyMinute();
  }

  #everyMinute(): void {
    const cancel = this.#call.core.clock.after(BOOKMARK_EVERY_MS, () => {
      this.#timers.delete(cancel);
      this.#bookmarkIfMoved();
      this.#everyMinute();
    });
    this.#timers.add(cancel);
  }

  /** Every write to any resource increases the revision; a bookmark reports it to a watch without events. */
  #bookmarkIfMoved(): void {
    const { revision } = this.#call.core.store;
    if (revision > this.#bookmarked) this.#bookmark(revision);
  }

  #stop(): void {
    this.#endStore?.();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
