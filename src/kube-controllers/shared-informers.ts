/**
 * One informer per kind for all controllers, created on first use.
 *
 * A controller that needs only metadata (the garbage collector, of every kind) gets the informer that another one has of the whole
 * objects, if there is one: one watch per kind is enough. So controllers request theirs in `start`, and metadata comes after.
 */
import { sleep, type Clock, type Logger, type Metrics } from "#base";
import { Informer, type ChangeHandler, type InformerHealth } from "#controller-runtime";
import { groupResourceOf, keyOf, metadataOf, type KubeObject, type Resource } from "#kube";
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

  constructor(options: SharedInformersOptions) {
    this.#options = options;
  }

  /** The informer of whole objects. */
  of<T extends KubeObject>(resource: Resource<T>): Informer<T> {
    // created for this resource, so its objects are T as far as the API server enforces the schema
    return this.#get(resource).informer as unknown as Informer<T>;
  }

  /** An informer that has at least the metadata of every object. */
  metadata(resource: Resource): Informer<KubeObject> {
    const whole = this.#shared.get(nameOf(resource));
    return (whole ?? this.#get(metadataOf(resource))).informer;
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

  /** True once every existing informer has its first list; false when the signal fires first. */
  async synced(): Promise<boolean> {
    const all = await Promise.all([...this.#shared.values()].map(({ informer }) => informer.synced(this.#options.signal)));
    return all.every(Boolean);
  }

  /** Whether every informer has the newest version of the server. Sends a request for every kind: for tests, not for controllers. */
  async current(): Promise<boolean> {
    const { signal, clock } = this.#options;
    for (const { resource, informer } of this.#shared.values()) {
      const listed = await this.#options.client.list(metadataOf(resource), {}, { signal });
      if (!listed.ok) {
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

  #get(resource: Resource): Shared {
    const name = nameOf(resource);
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const informer = new Informer<KubeObject>({ ...this.#options, resource });
    informer.subscribe(this.#options.onChange);
    const shared: Shared = { resource, informer, stopping: new AbortController() };
    this.#shared.set(name, shared);
    if (this.#running) this.#run(shared);
    return shared;
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
