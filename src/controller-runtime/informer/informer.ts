/**
 * Keeps a local copy of one kind of object, and reports changes to subscribers. It performs the transitions of states.ts.
 *
 * It retries forever: every failure is counted, shown in `health`, and retried. Subscribers get changes from
 * now on; existing objects are in `list`. An object that was deleted and created again while no watch was open is one change
 * whose `before` and `after` have different uids.
 */
import { describeThrown, sleep, type Clock, type Logger, type Metrics } from "#base";
import { groupResourceOf, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeReader, KubeWatcher, WatchEvent } from "#kube-client";
import { linkSignals } from "../signals.ts";
import { InformerMetrics } from "./informer-metrics.ts";
import { ObjectCache, type CacheChange } from "./object-cache.ts";
import { LIST_AFTER_FAILURES, next, START, type InformerInput, type InformerState, type Watching } from "./states.ts";

export type InformerOptions<T extends KubeObject> = {
  readonly client: KubeReader & KubeWatcher;
  readonly resource: Resource<T>;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly pageSize?: number | undefined;
  /** The cluster may not serve the kind: then it has no objects, and the list is retried periodically. */
  readonly optional?: boolean | undefined;
  /** The API server may forbid reading: then nothing waits for the first list, and it is retried periodically. */
  readonly mayBeForbidden?: boolean | undefined;
  /**
   * Whether the definition of the kind exists; undefined: not known. An informer of a kind without one waits for `definitionChanged`, and asks
   * again only after minutes: an aggregated API server may serve the kind.
   */
  readonly isDefined?: (() => boolean | undefined) | undefined;
  /** The namespace label of metrics; absent: all. */
  readonly place?: string | undefined;
  /** Reduces an object for the cache. By default all but `managedFields` is kept: often half of an object, and only the server reads them. */
  readonly transform?: ((object: T) => T) | undefined;
};

export type InformerHealth = {
  readonly phase: InformerState["phase"];
  /** When the phase began, in milliseconds since 1970. */
  readonly since: number;
  /** When the server last sent something about an object. */
  readonly lastEventAt: number | undefined;
  /** Failures in a row. */
  readonly failures: number;
  readonly objects: number;
  readonly synced: boolean;
  /** The API server forbids reading. */
  readonly forbidden: boolean;
  /** Synced, and not failing repeatedly: part of readiness. */
  readonly healthy: boolean;
};

export type ChangeHandler<T> = (change: CacheChange<T>) => void;

const PAGE_SIZE = 500;
/** Random between 4 and 6 minutes, so that a thousand watches that began together do not end together. */
const WATCH_SECONDS = { least: 240, spread: 120 };
/** The server ends a watch in time, or the connection is dead. */
const WATCH_MARGIN_MS = 10_000;
/** A watch that the server accepted and has not ended by then works, even without events. */
const WORKS_AFTER_MS = 1_000;
/** When the definition of a kind does not exist, and its creation would be reported. */
const NOT_DEFINED_MS = 600_000;
const BY_NAMESPACE = "namespace (built in)";

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #logger: Logger;
  readonly #metrics: InformerMetrics;
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #waiting = new Set<() => void>();
  readonly #servedHandlers = new Set<() => void>();
  readonly #transform: (object: T) => T;
  #state: InformerState = { phase: "stopped" };
  #since: number;
  #lastEventAt: number | undefined;
  #synced = false;
  #healthy = false;
  #absent = false;
  #optional: boolean;
  /** The last rejection, until reading is allowed again. */
  #forbidden: "list" | "watch" | undefined;
  /** Why it restarted since the watch last worked. */
  #lastCause: string | undefined;
  /** Whether the definition of the kind exists, if it changed since the last list. */
  #definition: "exists" | "removed" | undefined;
  /** Ends a wait or a watch before its time. */
  #interrupt: () => void = () => {};

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#optional = options.optional ?? false;
    const resource = groupResourceOf(options.resource);
    const place = options.place === undefined || options.place === "" ? {} : { namespace: options.place };
    this.#logger = options.logger.with({ resource, ...place });
    this.#metrics = new InformerMetrics(options.metrics, { resource, ...place });
    this.#transform = options.transform ?? withoutManagedFields;
    this.#since = options.clock.now();
    this.#metrics.healthy(false);
  }

  /** Lists and watches until the signal fires. Never fails; a second run at the same time is a bug. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state.phase !== "stopped") throw new Error("this informer runs already");
    let state = this.#enter(signal.aborted ? { phase: "stopped" } : START);
    while (state.phase !== "stopped") {
      const input = await this.#step(state, signal);
      state = this.#take(signal.aborted ? { kind: "stop" } : this.#definition === undefined ? input : { kind: "recheck" });
    }
  }

  /**
   * The definition of the kind was created, changed or removed. If the informer is in the other state, it lists at once: a kind that is
   * served or removed is noticed without waiting for the next attempt.
   */
  definitionChanged(definition: "exists" | "removed"): void {
    const isWatched = this.served && this.#state.phase !== "backing-off";
    if (this.#state.phase === "stopped" || isWatched === (definition === "exists")) return;
    this.#definition = definition;
    this.#interrupt();
  }

  /** Resolves true after the first complete list (or the response that the kind is not served), false when the signal fires first. */
  synced(signal: AbortSignal): Promise<boolean> {
    if (this.#synced || signal.aborted) return Promise.resolve(this.#synced);
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve(this.#synced);
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /**
   * Changes `optional`. An absent kind that is required from now on counts as not listed yet, until the cluster serves it. One that is optional
   * from now on is asked for at once: nothing waits for it any more if it is absent.
   */
  require(required: boolean): void {
    const waits = this.#state.phase === "backing-off" && !this.#optional && !this.#synced;
    this.#optional = !required;
    if (!required && waits) this.#interrupt();
    if (!required || !this.#absent) return;
    this.#absent = false;
    this.#synced = false;
    this.#enter(this.#state);
  }

  /** Removes its gauges, after it has stopped for good. */
  removeMetrics(): void {
    this.#metrics.remove();
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  list(namespace?: string): readonly T[] {
    if (namespace === undefined) return this.#cache.list();
    // built on first use: most informers have none
    if (!this.#cache.hasIndex(BY_NAMESPACE)) this.#cache.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? ""]);
    return this.#cache.byIndex(BY_NAMESPACE, namespace);
  }

  /** Calls back on every change from now on; the returned function unsubscribes. */
  subscribe(handler: ChangeHandler<T>): () => void {
    const own: ChangeHandler<T> = (change) => handler(change);
    this.#handlers.add(own);
    return () => void this.#handlers.delete(own);
  }

  /** False: an optional kind that the cluster does not serve, or that was not listed yet. */
  get served(): boolean {
    return this.#synced && !this.#absent && !this.forbidden;
  }

  /** The API server forbids reading; the cache may be out of date. */
  get forbidden(): boolean {
    return this.#forbidden !== undefined;
  }

  /** Calls back when an optional kind is served or removed, or when it becomes readable or forbidden. */
  subscribeServed(handler: () => void): () => void {
    const own = () => handler();
    this.#servedHandlers.add(own);
    return () => void this.#servedHandlers.delete(own);
  }

  addIndex(name: string, keysOf: (object: T) => readonly string[]): void {
    this.#cache.addIndex(name, keysOf);
  }

  hasIndex(name: string): boolean {
    return this.#cache.hasIndex(name);
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#cache.byIndex(name, value);
  }

  health(): InformerHealth {
    return {
      phase: this.#state.phase,
      since: this.#since,
      lastEventAt: this.#lastEventAt,
      failures: failuresOf(this.#state),
      objects: this.#cache.size,
      synced: this.#synced,
      forbidden: this.forbidden,
      healthy: this.#healthy,
    };
  }

  /** Performs one state. An exception here is a bug in a transform or an index: it causes a list and does not end the informer. */
  async #step(state: Exclude<InformerState, { phase: "stopped" }>, signal: AbortSignal): Promise<InformerInput> {
    try {
      switch (state.phase) {
        case "listing":
          return this.#heardOfList(await this.#list(state.paged, signal));
        case "watching":
          return this.#heardOfWatch(await this.#watch(state, signal));
        case "backing-off":
          await this.#wait(state.until, signal);
          return { kind: "waited" };
      }
    } catch (thrown) {
      this.#logger.error("informer met a bug", { error: describeThrown(thrown) });
      return { kind: "bug" };
    }
  }

  async #wait(until: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const waking = linkSignals(signal);
    this.#interrupt = waking.abort;
    await sleep(clock, until - clock.monotonic(), waking.signal);
    waking.release();
  }

  async #list(paged: boolean, signal: AbortSignal): Promise<InformerInput> {
    const { client, resource, pageSize = PAGE_SIZE } = this.#options;
    const objects: T[] = [];
    let token: string | undefined;
    do {
      const query = { ...this.#selection(), limit: paged ? pageSize : undefined, continue: token };
      const page = await client.list(resource, query, { signal });
      if (!page.ok) return { kind: "failed", error: page.error };
      for (const object of page.value.items) objects.push(this.#transform(object));
      token = page.value.metadata.continue || undefined;
      if (token === undefined) return this.#listed(objects, page.value.metadata.resourceVersion);
    } while (!signal.aborted);
    return { kind: "stop" };
  }

  /** The whole list is in the cache before the first subscriber is called: none sees a partial list. */
  #listed(objects: readonly T[], resourceVersion: string): InformerInput {
    const changes = this.#cache.replace(objects, resourceVersion);
    this.#lastEventAt = this.#options.clock.now();
    for (const change of changes) this.#tell(change);
    this.#metrics.objects(this.#cache.size);
    this.#know({ absent: false, forbidden: this.#forbidden === "list" ? undefined : this.#forbidden });
    return { kind: "listed", resourceVersion };
  }

  /** "Not found" for a whole collection means that the kind is not served. */
  #heardOfList(input: InformerInput): InformerInput {
    // the definition changed during this list, and the response agrees with it
    if (this.#definition !== undefined && this.#definition === definitionIn(input)) this.#definition = undefined;
    if (this.#isRefusal(input)) this.#know({ absent: this.#absent, forbidden: "list" });
    if (this.#isAbsence(input)) {
      for (const change of this.#cache.replace([], "0")) this.#tell(change);
      this.#metrics.objects(0);
      this.#know({ absent: true, forbidden: undefined });
    }
    const waits = input.kind === "failed" && input.error.kind === "not-found" && this.#options.isDefined?.() === false;
    return waits ? { kind: "failed", error: { ...input.error, retryAfterMs: NOT_DEFINED_MS } } : input;
  }

  #isRefusal(input: InformerInput): boolean {
    return this.#options.mayBeForbidden === true && input.kind === "failed" && input.error.kind === "forbidden";
  }

  #isAbsence(input: InformerInput): boolean {
    return this.#optional && input.kind === "failed" && input.error.kind === "not-found";
  }

  #know({ absent, forbidden }: { readonly absent: boolean; readonly forbidden: "list" | "watch" | undefined }): void {
    const turned = this.#synced && (absent !== this.#absent || (forbidden === undefined) === this.forbidden);
    this.#synced = true;
    this.#absent = absent;
    this.#forbidden = forbidden;
    for (const done of this.#waiting) done();
    if (turned) for (const handler of this.#servedHandlers) handler();
  }

  async #watch(state: Watching, signal: AbortSignal): Promise<InformerInput> {
    const { client, resource, clock, random } = this.#options;
    const timeoutSeconds = Math.ceil(WATCH_SECONDS.least + WATCH_SECONDS.spread * random());
    const ending = new AbortController();
    const end = () => ending.abort();
    this.#interrupt = end;
    const cancelTimer = clock.after(timeoutSeconds * 1_000 + WATCH_MARGIN_MS, end);
    let cancelWorks = () => {};
    const onOpen = () => {
      cancelWorks = clock.after(WORKS_AFTER_MS, () => this.#take({ kind: "progress", resourceVersion: state.resourceVersion }));
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      const query = { ...this.#selection(), resourceVersion: state.resourceVersion, timeoutSeconds };
      for await (const item of client.watch(resource, query, ending.signal, onOpen)) {
        if (!item.ok) return ending.signal.aborted ? { kind: "silent" } : { kind: "failed", error: item.error };
        this.#take({ kind: "progress", resourceVersion: this.#heard(item.value) ?? state.resourceVersion });
      }
      return { kind: ending.signal.aborted ? "silent" : "ended" };
    } finally {
      cancelTimer();
      cancelWorks();
      signal.removeEventListener("abort", end);
    }
  }

  #heardOfWatch(input: InformerInput): InformerInput {
    if (this.#isRefusal(input)) this.#know({ absent: this.#absent, forbidden: "watch" });
    return input;
  }

  /** Adds an event to the cache and notifies subscribers; returns the progress of the watch. */
  #heard(event: WatchEvent<T>): string | undefined {
    this.#metrics.event(event.type);
    this.#lastEventAt = this.#options.clock.now();
    if (event.type === "BOOKMARK") {
      this.#cache.settle(event.resourceVersion);
      return event.resourceVersion;
    }
    const sizeBefore = this.#cache.size;
    const object = this.#transform(event.object);
    const change = event.type === "DELETED" ? this.#cache.remove(object) : this.#cache.put(object);
    if (this.#cache.size !== sizeBefore) this.#metrics.objects(this.#cache.size);
    if (change !== undefined) this.#tell(change);
    return event.object.metadata.resourceVersion;
  }

  #tell(change: CacheChange<T>): void {
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch (thrown) {
        this.#logger.error("informer subscriber met a bug", { ...change.key, error: describeThrown(thrown) });
      }
    }
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #take(input: InformerInput): InformerState {
    const { clock, random } = this.#options;
    if (input.kind === "recheck") this.#definition = undefined;
    if (input.kind === "progress") this.#lastCause = undefined;
    if (input.kind === "progress" && this.forbidden) this.#know({ absent: false, forbidden: undefined });
    const after = next(this.#state, input, { now: clock.monotonic(), random });
    if (input.kind === "failed" || input.kind === "silent" || input.kind === "ended" || input.kind === "bug") this.#report(input, after);
    return this.#enter(after);
  }

  #report(input: InformerInput, after: InformerState): void {
    const cause = input.kind === "failed" ? input.error.kind : input.kind;
    this.#metrics.restart(cause);
    const waitMs = after.phase === "backing-off" ? Math.round(after.until - this.#options.clock.monotonic()) : 0;
    const message = input.kind === "failed" ? { error: input.error.message } : {};
    // a missing permission stays missing until an administrator grants it: reported once
    const repeated = cause === "forbidden" && this.#lastCause === "forbidden";
    const level = after.phase === "backing-off" && !this.#isAbsence(input) && !repeated ? "warn" : "debug";
    this.#lastCause = cause;
    this.#logger[level]("informer starts again", { cause, waitMs, ...message });
  }

  #enter(state: InformerState): InformerState {
    if (state.phase !== this.#state.phase) this.#since = this.#options.clock.now();
    this.#state = state;
    const healthy =
      this.#synced && state.phase !== "stopped" && (this.#absent || this.forbidden || failuresOf(state) < LIST_AFTER_FAILURES);
    if (healthy !== this.#healthy) this.#metrics.healthy(healthy);
    this.#healthy = healthy;
    return state;
  }
}

/** What a response to a list proves about the definition of the kind. */
function definitionIn(input: InformerInput): "exists" | "removed" | undefined {
  if (input.kind === "listed") return "exists";
  return input.kind === "failed" && input.error.kind === "not-found" ? "removed" : undefined;
}

function failuresOf(state: InformerState): number {
  return state.phase === "stopped" ? 0 : state.failures;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
