/**
 * Every object of every kind that can be deleted, as metadata: the input of the garbage collector and of namespace deletion.
 *
 * Kinds are added and removed. Discovery is repeated when a CustomResourceDefinition or an APIService changes, and, where there is an aggregated
 * API server, every half minute for changes inside it. Objects of a kind that is not served any more are not deleted, only not visible: `forgotten`.
 */
import { backoffDelay, sleep, type BackoffPolicy, type Clock, type Logger } from "#base";
import type { CacheChange, Informer, WorkQueue } from "#controller-runtime";
import { apiServices, customResourceDefinitions, groupResourceOf, keyOf, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { discover, kindKey, type Discovered, type ServedResource } from "./discovery.ts";
import { follow, type SharedInformers } from "./shared-informers.ts";
import { again, failed, type Pass, type WorkOptions } from "./work.ts";

export type EveryKindHandler = {
  readonly changed: (resource: ServedResource, change: CacheChange<KubeObject>) => void;
  /** Its kind, or its version, is not served any more. */
  readonly forgotten?: (resource: ServedResource, object: KubeObject) => void;
};

export type EveryKindOptions = {
  readonly client: KubeClient;
  readonly informers: SharedInformers;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly work: (options: WorkOptions) => WorkQueue;
};

type Monitor = { readonly resource: ServedResource; readonly informer: Informer<KubeObject>; readonly end: () => void };

/** Events are numerous, own nothing, and expire. */
const IGNORED = new Set(["events", "events.events.k8s.io"]);
const WATCHED_VERBS = ["delete", "list", "watch"];
const NOTHING: Discovered = { preferred: [], byKind: new Map(), failures: new Map() };
const REFRESH_MS = 30_000;
/** Without an aggregated API server, every change of the served kinds is a change of an object that is watched. */
const REFRESH_OWN_MS = 600_000;
/** The API server's own label of the APIServices that it serves itself. */
const AUTOMANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";
/** A definition is served shortly after it is established, and its kind is removed shortly after it is deleted. */
const SOON: BackoffPolicy = { initialMs: 100, maxMs: 1_000, factor: 2 };
const SOON_TRIES = 10;
const FIRST_SYNC_MS = 30_000;
const KEY = "discovery";

export class EveryKind {
  readonly #options: EveryKindOptions;
  readonly #handlers = new Set<EveryKindHandler>();
  readonly #monitors = new Map<string, Monitor>();
  readonly #ready: Promise<void>;
  #markReady: () => void = () => {};
  #isReady = false;
  #discovered = NOTHING;
  /** Attempts since a definition changed. */
  #soon = 0;
  /** Definitions that were removed, and may still be discovered. */
  readonly #removed = new Set<string>();
  readonly #queue: WorkQueue;

  constructor(options: EveryKindOptions) {
    this.#options = options;
    this.#ready = new Promise((resolve) => (this.#markReady = resolve));
    options.signal.addEventListener("abort", () => this.#markReady(), { once: true });
    this.#queue = options.work({ name: "discovery", concurrency: 1, pass: () => this.#discover() });
    this.#queue.add(KEY);
    follow(options.informers.metadata(customResourceDefinitions), ({ key, after }) => {
      if (after === undefined) this.#removed.add(key.name);
      else this.#removed.delete(key.name);
      this.#discoverSoon();
    });
  }

  #discoverSoon(): void {
    this.#soon = 0;
    this.#queue.add(KEY);
  }

  /** Resolves when every kind has its first list, or after a limit: a kind whose list fails must not block the rest. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Every change of every object; existing objects are reported as added. */
  subscribe(handler: EveryKindHandler): void {
    this.#handlers.add(handler);
    for (const { resource, informer } of this.#monitors.values()) {
      for (const object of informer.list()) handler.changed(resource, { key: keyOf(object), before: undefined, after: object });
    }
  }

  get discovered(): Discovered {
    return this.#discovered;
  }

  /** The kind under this name in any served version. */
  find(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#discovered.byKind.get(kindKey(apiVersion, kind));
  }

  /** Of the preferred version, and with its first list; undefined for kinds that are not watched. */
  syncedInformer(resource: Resource): Informer<KubeObject> | undefined {
    const informer = this.#monitors.get(groupResourceOf(resource))?.informer;
    return informer?.health().synced === true ? informer : undefined;
  }

  async #discover(): Promise<Pass> {
    const { client, signal } = this.#options;
    const answer = await discover(client, signal);
    if (!answer.ok) return failed(answer.error.message);
    this.#discovered = this.#withFailedGroups(answer.value);
    this.#syncMonitors();
    if (!this.#isReady) await this.#firstSync();
    this.#soon += 1;
    const isComplete = this.#isComplete();
    if (!isComplete && this.#soon <= SOON_TRIES) return again(backoffDelay(SOON, this.#soon, () => 1));
    return again(isComplete && answer.value.failures.size === 0 && this.#servesAllItself() ? REFRESH_OWN_MS : REFRESH_MS);
  }

  /** A group whose discovery fails has not lost its kinds. */
  #withFailedGroups(next: Discovered): Discovered {
    if (next.failures.size === 0) return next;
    const fails = ({ group, version }: Resource) => next.failures.has(group === "" ? version : `${group}/${version}`);
    const kept = this.#discovered.preferred.filter(fails);
    const names = new Set(next.preferred.map(groupResourceOf));
    const preferred = [...next.preferred, ...kept.filter((resource) => !names.has(groupResourceOf(resource)))];
    const byKind = new Map([...[...this.#discovered.byKind].filter(([, resource]) => fails(resource)), ...next.byKind]);
    return { ...next, preferred, byKind };
  }

  #syncMonitors(): void {
    const wanted = new Map(this.#discovered.preferred.filter(isWatched).map((resource) => [groupResourceOf(resource), resource]));
    for (const [name, monitor] of this.#monitors) {
      const version = wanted.get(name)?.version;
      if (version === monitor.resource.version) wanted.delete(name);
      else this.#drop(name, monitor);
    }
    for (const [name, resource] of wanted) {
      const informer = this.#options.informers.metadata(resource);
      const end = follow(informer, (change) => this.#tell(resource, change));
      this.#monitors.set(name, { resource, informer, end });
    }
    if (wanted.size > 0) this.#options.logger.debug("kinds are watched", { added: [...wanted.keys()] });
  }

  #drop(name: string, { resource, informer, end }: Monitor): void {
    end();
    this.#monitors.delete(name);
    this.#options.informers.dropMetadata(resource);
    for (const object of informer.list()) for (const handler of this.#handlers) handler.forgotten?.(resource, object);
    this.#options.logger.debug("kind is gone", { resource: name });
  }

  #tell(resource: ServedResource, change: CacheChange<KubeObject>): void {
    if (groupResourceOf(resource) === groupResourceOf(apiServices)) this.#discoverSoon();
    for (const handler of this.#handlers) handler.changed(resource, change);
  }

  /** Once, for the kinds that exist at the start: later, a kind whose list fails must not delay the discovery of others. */
  async #firstSync(): Promise<void> {
    const giveUp = new AbortController();
    const end = () => giveUp.abort();
    this.#options.signal.addEventListener("abort", end, { once: true });
    const all = Promise.all([...this.#monitors.values()].map(({ informer }) => informer.synced(giveUp.signal)));
    await Promise.race([all, sleep(this.#options.clock, FIRST_SYNC_MS, giveUp.signal)]);
    giveUp.abort();
    this.#options.signal.removeEventListener("abort", end);
    this.#isReady = true;
    this.#markReady();
  }

  /** Whether no group is served by an aggregated API server. */
  #servesAllItself(): boolean {
    const services = this.syncedInformer(apiServices)?.list();
    return services?.every(({ metadata }) => metadata.labels?.[AUTOMANAGED_LABEL] !== undefined) === true;
  }

  /** Whether every definition is served, and no removed one; its name is "plural.group". */
  #isComplete(): boolean {
    const served = new Set(this.#discovered.preferred.map(groupResourceOf));
    for (const name of this.#removed) if (!served.has(name)) this.#removed.delete(name);
    if (this.#removed.size > 0) return false;
    const definitions = this.#options.informers.metadata(customResourceDefinitions).list();
    return definitions.every(({ metadata }) => metadata.deletionTimestamp !== undefined || served.has(metadata.name));
  }
}

function isWatched(resource: ServedResource): boolean {
  return !IGNORED.has(groupResourceOf(resource)) && WATCHED_VERBS.every((verb) => resource.verbs.has(verb));
}
