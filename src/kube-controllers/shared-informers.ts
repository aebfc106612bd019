/**
 * One informer per kind for all controllers, created on first use.
 *
 * A controller that needs only metadata (the garbage collector, of every kind) gets the informer that another one has of the whole
 * objects, if there is one: one watch per kind is enough. So controllers request theirs in `start`, and metadata comes after. An informer of an
 * optional kind is not shared in this way: it reports the objects of a kind that is removed as deleted, and the garbage collector must not see that.
 */
import { sleep, type Clock, type Logger, type Metrics } from "#base";
import { Informer, isDefinedKind, type ChangeHandler, type InformerHealth } from "#controller-runtime";
import { customResourceDefinitions, groupResourceOf, keyOf, metadataOf, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";

export type SharedInformersOptions = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Called on every change of any object. */
  readonly onChange: () => void;
};

type Shared = {
  readonly resource: Resource;
  readonly informer: Informer<KubeObject>;
  readonly stopping: AbortController;
};

export class SharedInformers {
  readonly #options: SharedInformersOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #ended: Promise<void>[] = [];
  #running = false;
  #followsDefinitions = false;
  #requested = new Set<Informer<KubeObject>>();

  constructor(options: SharedInformersOptions) {
    this.#options = options;
  }

  /** Runs the start of a controller, and returns its result and the informers that it requested. */
  requestedBy<T>(start: () => T): { readonly value: T; readonly informers: ReadonlySet<Informer<KubeObject>> } {
    const [outer, informers] = [this.#requested, new Set<Informer<KubeObject>>()];
    this.#requested = informers;
    const value = start();
    this.#requested = outer;
    return { value, informers };
  }

  /** The informer of whole objects. */
  of<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    // created for this resource, so its objects are T as far as the API server enforces the schema
    return this.#get(resource).informer as unknown as Informer<T>;
  }

  /** An informer that has at least the metadata of every object. */
  metadata(resource: Resource): Informer<KubeObject> {
    return this.#get(this.#shared.has(nameOf(resource)) ? resource : metadataOf(resource)).informer;
  }

  /**
   * The informer of whole objects of a kind that the cluster may lack. It has no objects then, and nothing waits for it. When the kind is
   * installed its objects are reported as added, when it is removed as deleted.
   */
  optional<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    return this.#get(resource, true).informer as unknown as Informer<T>;
  }

  /** Every change from now on, after existing objects were reported as added. */
  subscribe<T extends KubeObject>(resource: Resource<T>, handler: ChangeHandler<T>): () => void {
    return follow(this.of(resource), handler);
  }

  /** Ends the informer of metadata: its kind is removed. One of whole objects stays, for the controllers that use it. */
  dropMetadata(resource: Resource): void {
    const name = nameOf(metadataOf(resource));
    this.#shared.get(name)?.stopping.abort();
    this.#shared.delete(name);
  }

  /** Existing and future informers list and watch until the signal fires. */
  run(): void {
    this.#running = true;
    this.#options.signal.addEventListener("abort", () => this.#stop(), { once: true });
    for (const shared of this.#shared.values()) this.#run(shared);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }

  /** True once these informers, or all, have their first list; false when the signal fires first. */
  async synced(informers: Iterable<Informer<KubeObject>> = [...this.#shared.values()].map(({ informer }) => informer)): Promise<boolean> {
    const all = await Promise.all([...informers].map((informer) => informer.synced(this.#options.signal)));
    return all.every(Boolean);
  }

  /** Whether every informer has the newest version of the server. Sends a request for every kind: for tests, not for controllers. */
  async current(): Promise<boolean> {
    const { signal, clock } = this.#options;
    for (const { resource, informer } of this.#shared.values()) {
      const listed = await this.#options.client.list(metadataOf(resource), {}, { signal });
      if (!listed.ok) {
        if (listed.error.kind === "not-found" && informer.health().healthy && !informer.served) continue;
        if (listed.error.kind !== "not-found") await sleep(clock, 1_000, signal);
        return false;
      }
      if (!holdsExactly(informer, listed.value.items)) return false;
    }
    return true;
  }

  health(): ReadonlyMap<string, InformerHealth> {
    return new Map([...this.#shared].map(([name, { informer }]) => [name, informer.health()]));
  }

  #get(resource: Resource, optional = false): Shared {
    const name = optional ? `${nameOf(resource)} optional` : nameOf(resource);
    const shared = this.#shared.get(name) ?? this.#add(name, resource, optional);
    this.#requested.add(shared.informer);
    return shared;
  }

  #add(name: string, resource: Resource, optional: boolean): Shared {
    const isDefined = () => this.#isDefined(resource, optional);
    const informer = new Informer<KubeObject>({ ...this.#options, resource, optional, isDefined });
    informer.subscribe(this.#options.onChange);
    informer.subscribeServed(this.#options.onChange);
    const shared: Shared = { resource, informer, stopping: new AbortController() };
    this.#shared.set(name, shared);
    if (this.#running) this.#run(shared);
    if (resource.view === undefined && isDefinedKind(resource, optional)) this.#followDefinitions();
    return shared;
  }

  /** Kinds of controllers that are installed or removed are noticed at once. Metadata of every kind has discovery for that. */
  #followDefinitions(): void {
    if (this.#followsDefinitions) return;
    this.#followsDefinitions = true;
    follow(this.metadata(customResourceDefinitions), ({ key, after }) => {
      const changed = [...this.#shared.values()].filter(
        ({ resource }) => resource.view === undefined && groupResourceOf(resource) === key.name,
      );
      for (const { informer } of changed) informer.definitionChanged(after === undefined ? "removed" : "exists");
    });
  }

  #isDefined(resource: Resource, optional: boolean): boolean | undefined {
    if (!this.#followsDefinitions || resource.view !== undefined || !isDefinedKind(resource, optional)) return undefined;
    const definitions = this.metadata(customResourceDefinitions);
    return definitions.served ? definitions.get({ name: groupResourceOf(resource) }) !== undefined : undefined;
  }

  #run({ informer, stopping }: Shared): void {
    if (this.#options.signal.aborted) stopping.abort();
    this.#ended.push(informer.run(stopping.signal));
  }

  #stop(): void {
    for (const { stopping } of this.#shared.values()) stopping.abort();
  }
}

/** Subscribes to an informer that may already have objects. */
export function follow<T extends KubeObject>(informer: Informer<T>, handler: ChangeHandler<T>): () => void {
  const end = informer.subscribe(handler);
  for (const object of informer.list()) handler({ key: keyOf(object), before: undefined, after: object });
  return end;
}

function holdsExactly(informer: Informer<KubeObject>, objects: readonly KubeObject[]): boolean {
  if (informer.health().objects !== objects.length) return false;
  return objects.every((object) => {
    const { uid, resourceVersion } = informer.get(keyOf(object))?.metadata ?? {};
    return uid === object.metadata.uid && resourceVersion === object.metadata.resourceVersion;
  });
}

function nameOf(resource: Resource): string {
  return `${groupResourceOf(resource)}/${resource.version}${resource.view === undefined ? "" : ` ${resource.view}`}`;
}
