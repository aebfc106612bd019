/**
 * Records Kubernetes events. `record` returns at once and never fails: events are best effort, and a
 * reconcile must not wait or fail because of one.
 *
 * Repetitions inside a window become one event with a count. The count is written at most once a minute, so a crash may lose the
 * last few; the log has them.
 */
import type { Clock, Counter, Logger, Metrics } from "#base";
import { events, type KubeEvent } from "#kube";
import type { KubeWriter } from "#kube-client";
import { TokenBucket, type Rate } from "../queue/token-bucket.ts";
import { eventOf, identityOf, microTime, regardingId, type EventNote, type Reporter } from "./event.ts";

export type EventRecorderOptions = {
  readonly client: KubeWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly reporter: Reporter;
  /** Ends requests under way; queued events are dropped. */
  readonly signal: AbortSignal;
  /** Limit of events of one type about one object. */
  readonly perObject?: Rate;
};

type Budget = { readonly bucket: TokenBucket; readonly usedAt: number };
type Series = { readonly event: KubeEvent; count: number; written: number; writtenAt: number; seenAt: number };

const PER_OBJECT: Rate = { burst: 25, perSecond: 1 / 60 };
const WINDOW_MS = 600_000;
const WRITE_EVERY_MS = 60_000;
const MAX_QUEUED = 500;
/** Limit of series and of budgets, regardless of age. */
const MAX_KEPT = 2_000;
const TIMEOUT_MS = 5_000;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Both in order of last use: the oldest are first, and are removed when new ones are added. */
  readonly #budgets = new Map<string, Budget>();
  readonly #series = new Map<string, Series>();
  readonly #dropped: Counter;
  #queued = 0;
  #serial = 0;
  #tail: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#dropped = options.metrics.counter("lattice_events_dropped_total", "Events not sent, by cause");
  }

  record(note: EventNote): void {
    const id = identityOf(note);
    const now = this.#options.clock.monotonic();
    const known = this.#series.get(id);
    if (known !== undefined && now - known.seenAt <= WINDOW_MS) return this.#repeat(id, known, now);
    // warnings have a separate budget: a workload that creates its first Pods would otherwise use it up before it fails
    if (!this.#mayTell(`${note.type} ${regardingId(note.regarding)}`, now)) return this.#drop("rate");
    const { clock, reporter } = this.#options;
    const event = eventOf(note, reporter, clock.now(), (this.#serial += 1));
    this.#forgetOld(now);
    moveToEnd(this.#series, id, { event, count: 1, written: 1, writtenAt: now, seenAt: now });
    this.#enqueue(() => this.#create(event));
  }

  /** Waits until all recorded events are sent, pending counts included. */
  async flush(): Promise<void> {
    for (const series of this.#series.values()) if (series.count > series.written) this.#writeCount(series);
    await this.#tail;
  }

  #repeat(id: string, series: Series, now: number): void {
    series.count += 1;
    series.seenAt = now;
    moveToEnd(this.#series, id, series);
    if (now - series.writtenAt >= WRITE_EVERY_MS) this.#writeCount(series);
  }

  #writeCount(series: Series): void {
    series.written = series.count;
    series.writtenAt = this.#options.clock.monotonic();
    const body = { series: { count: series.count, lastObservedTime: microTime(this.#options.clock.now()) } };
    this.#enqueue(() => this.#patch(series.event, body));
  }

  #mayTell(budget: string, now: number): boolean {
    const bucket = this.#budgets.get(budget)?.bucket ?? new TokenBucket(this.#options.perObject ?? PER_OBJECT, now);
    moveToEnd(this.#budgets, budget, { bucket, usedAt: now });
    if (bucket.waitMs(now) > 0) return false;
    bucket.take(now);
    return true;
  }

  /** Removes series that are over, with the last count sent, and budgets that are full again: a new one would be equal. */
  #forgetOld(now: number): void {
    const { burst, perSecond } = this.#options.perObject ?? PER_OBJECT;
    for (const [id, series] of this.#series) {
      if (now - series.seenAt <= WINDOW_MS && this.#series.size <= MAX_KEPT) break;
      this.#series.delete(id);
      if (series.count > series.written) this.#writeCount(series);
    }
    for (const [object, { usedAt }] of this.#budgets) {
      if (now - usedAt <= (burst / perSecond) * 1_000 && this.#budgets.size <= MAX_KEPT) break;
      this.#budgets.delete(object);
    }
  }

  /** One at a time: many events must not delay requests that matter. */
  #enqueue(send: () => Promise<void>): void {
    if (this.#options.signal.aborted) return this.#drop("stopped");
    if (this.#queued >= MAX_QUEUED) return this.#drop("queue");
    this.#queued += 1;
    this.#tail = this.#tail.then(send).finally(() => {
      this.#queued -= 1;
    });
  }

  async #create(event: KubeEvent): Promise<void> {
    const { client, signal } = this.#options;
    const answer = await client.create(events, event, { timeoutMs: TIMEOUT_MS, signal });
    if (!answer.ok) this.#lost(answer.error.message);
  }

  async #patch(event: KubeEvent, patch: { series: NonNullable<KubeEvent["series"]> }): Promise<void> {
    const { client, signal } = this.#options;
    const { name, namespace } = event.metadata;
    const options = { timeoutMs: TIMEOUT_MS, signal };
    const answer = await client.patch(events, { name, namespace }, { type: "merge", patch }, options);
    // events expire after an hour; a series that outlives its event is sent as a new one
    if (!answer.ok && answer.error.kind === "not-found") return this.#create({ ...event, ...patch });
    if (!answer.ok) this.#lost(answer.error.message);
  }

  #lost(error: string): void {
    this.#drop("error");
    this.#options.logger.debug("event was not sent", { error });
  }

  #drop(cause: string): void {
    this.#dropped.add(1, { cause });
  }
}

function moveToEnd<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
}
