/**
 * One informer per kind for all controllers of a manager, and the view of them that controllers read.
 *
 * Of managedFields only our own entry is kept: the apply engine needs it to see how the server merges lists, and all entries
 * together are often half of an object.
 */
import type { Clock, Logger, Metrics } from "#base";
import { field, groupResourceOf, isJsonObject, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeReader, KubeWatcher } from "#kube-client";
import { FIELD_MANAGER, labelOf, OWNER_LABEL } from "./apply/identity.ts";
import { Informer, type ChangeHandler, type InformerHealth } from "./informer/informer.ts";

/** The cluster as last heard of. Everything in it may be a moment old. Asking for a kind that was not declared is a bug. */
export interface CacheReader {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[];
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[];
  /** False for an optional kind that the cluster does not have at present. */
  isServed(resource: Resource): boolean;
}

/** Objects by owner label, on every informer. */
export const OWNER_INDEX = "lattice/owned-by";

export type InformerSetOptions = {
  readonly client: KubeReader & KubeWatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

export class InformerSet implements CacheReader {
  readonly #options: InformerSetOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();

  /** A kind that both lists name is not optional. */
  constructor(options: InformerSetOptions, resources: readonly Resource[], optional: readonly Resource[] = []) {
    this.#options = options;
    for (const resource of resources) this.#add(resource, false);
    for (const resource of optional) this.#add(resource, true);
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    // the informer was made for this very resource, so what it holds is T as far as the API server keeps its schema
    return this.#of(resource).get(key) as T | undefined;
  }

  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[] {
    return this.#of(resource).list(namespace) as readonly T[];
  }

  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[] {
    return this.#of(resource).byIndex(index, value) as readonly T[];
  }

  isServed(resource: Resource): boolean {
    return this.#of(resource).served;
  }

  /** Calls back when an optional kind comes or goes. */
  subscribeServed(resource: Resource, handler: () => void): () => void {
    return this.#of(resource).subscribeServed(handler);
  }

  addIndex(resource: Resource, name: string, keysOf: (object: KubeObject) => readonly string[]): void {
    this.#of(resource).addIndex(name, keysOf);
  }

  subscribe(resource: Resource, handler: ChangeHandler<KubeObject>): () => void {
    return this.#of(resource).subscribe(handler);
  }

  /** Ends when the signal fires and every informer has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.run(signal)));
  }

  /** True once every informer has its first complete list; false when the signal fires first. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const all = await Promise.all([...this.#informers.values()].map((informer) => informer.synced(signal)));
    return all.every(Boolean);
  }

  health(): ReadonlyMap<string, InformerHealth> {
    return new Map([...this.#informers].map(([name, informer]) => [name, informer.health()]));
  }

  #add(resource: Resource, optional: boolean): void {
    const name = nameOf(resource);
    if (this.#informers.has(name)) return;
    const informer = new Informer<KubeObject>({ ...this.#options, resource, optional, transform: keepOwnManagedFields });
    informer.addIndex(OWNER_INDEX, (object) => [labelOf(object, OWNER_LABEL) ?? []].flat());
    this.#informers.set(name, informer);
  }

  #of(resource: Resource): Informer<KubeObject> {
    const informer = this.#informers.get(nameOf(resource));
    if (informer === undefined) throw new Error(`no controller of this manager declares ${nameOf(resource)}`);
    return informer;
  }
}

function nameOf(resource: Resource): string {
  const name = `${groupResourceOf(resource)}/${resource.version}`;
  return resource.view === undefined ? name : `${name} (${resource.view})`;
}

export function keepOwnManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  const own = managedFields.filter((entry) => isJsonObject(entry) && field(entry, "manager") === FIELD_MANAGER);
  return { ...object, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: own } };
}
