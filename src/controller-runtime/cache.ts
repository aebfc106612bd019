/**
 * One informer per kind (and namespace, if the manager works in some only) for all controllers of a manager, and the cache that controllers read.
 *
 * Of managedFields only our own entry is kept: the apply engine needs it to see how the server merges lists, and all entries
 * together are often half of an object.
 */
import type { Clock, Logger, Metrics } from "#base";
import { field, groupResourceOf, isJsonObject, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeReader, KubeWatcher } from "#kube-client";
import { FIELD_MANAGER, labelOf, OWNER_LABEL } from "./identity.ts";
import { watchDefinitions } from "./informer/definition-watch.ts";
import type { ChangeHandler, InformerHealth } from "./informer/informer.ts";
import { InformerGroup, type ReadAccess } from "./informer/informer-group.ts";
import { EVERYWHERE, isDefinedKind, type ManagerScope } from "./scope.ts";

/** The state of the cluster in the informers; it may be out of date. Reading a kind that was not declared is a bug. */
export interface CacheReader {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[];
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[];
  /** False for an optional kind that the cluster does not have at present. */
  isServed(resource: Resource): boolean;
  /** Whether objects of the kind can be read in this namespace; of Namespaces: the one with this name. */
  access(resource: Resource, namespace: string): ReadAccess;
}

/** Objects by owner label, on every informer. */
export const OWNER_INDEX = "lattice/owned-by";

export type InformerSetOptions = {
  readonly client: KubeReader & KubeWatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Absent: the whole cluster. */
  readonly scope?: ManagerScope | undefined;
};

export class InformerSet implements CacheReader {
  readonly #options: InformerSetOptions;
  readonly #informers = new Map<string, InformerGroup>();
  /** Kinds that may be installed and removed, by the name of their definition. */
  readonly #defined = new Map<string, readonly InformerGroup[]>();

  /** A kind in both lists is not optional. */
  constructor(options: InformerSetOptions, resources: readonly Resource[], optional: readonly Resource[] = []) {
    this.#options = options;
    for (const resource of resources) this.#add(resource, false);
    for (const resource of optional) this.#add(resource, true);
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    // the informer was created for this resource, so its objects are T as far as the API server enforces the schema
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

  access(resource: Resource, namespace: string): ReadAccess {
    return this.#of(resource).access(namespace);
  }

  /** Calls back when an optional kind is served or removed, or when it becomes readable or forbidden in a namespace. */
  subscribeServed(resource: Resource, handler: () => void): () => void {
    return this.#of(resource).subscribeServed(handler);
  }

  /** Calls back when any kind is served or removed, or becomes readable or forbidden in any namespace. */
  subscribeAccess(handler: () => void): () => void {
    const ends = [...this.#informers.values()].map((group) => group.subscribeServed(handler));
    return () => ends.forEach((end) => end());
  }

  addIndex(resource: Resource, name: string, keysOf: (object: KubeObject) => readonly string[]): void {
    this.#of(resource).addIndex(name, keysOf);
  }

  subscribe(resource: Resource, handler: ChangeHandler<KubeObject>): () => void {
    return this.#of(resource).subscribe(handler);
  }

  /** Ends when the signal fires and every informer has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const informers = [...this.#informers.values()].map((informer) => informer.run(signal));
    await Promise.all([...informers, ...(this.#defined.size === 0 ? [] : [this.#watchDefinitions(signal)])]);
  }

  #watchDefinitions(signal: AbortSignal): Promise<void> {
    const onChange = (name: string, definition: "exists" | "removed") => {
      for (const informer of this.#defined.get(name) ?? []) informer.definitionChanged(definition);
    };
    return watchDefinitions({ ...this.#options, onChange }, signal);
  }

  /** True once every informer has its first complete list; false when the signal fires first. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const all = await Promise.all([...this.#informers.values()].map((informer) => informer.synced(signal)));
    return all.every(Boolean);
  }

  health(): ReadonlyMap<string, InformerHealth> {
    const named = (name: string, place: string) => (place === EVERYWHERE ? name : `${name} in ${place}`);
    const all = [...this.#informers];
    return new Map(all.flatMap(([name, group]) => [...group.health()].map(([place, health]) => [named(name, place), health] as const)));
  }

  #add(resource: Resource, optional: boolean): void {
    const name = nameOf(resource);
    if (this.#informers.has(name)) return;
    const { scope, ...options } = this.#options;
    const informer = new InformerGroup({ ...options, resource, optional, transform: keepOwnManagedFields }, scope);
    informer.addIndex(OWNER_INDEX, (object) => [labelOf(object, OWNER_LABEL) ?? []].flat());
    this.#informers.set(name, informer);
    const definition = groupResourceOf(resource);
    // in some namespaces only, the operator has no right to read definitions
    if (scope === undefined && isDefinedKind(resource, optional))
      this.#defined.set(definition, [...(this.#defined.get(definition) ?? []), informer]);
  }

  #of(resource: Resource): InformerGroup {
    const informer = this.#informers.get(nameOf(resource));
    if (informer === undefined) throw new Error(`no controller of this manager declares ${nameOf(resource)}`);
    return informer;
  }
}

function nameOf(resource: Resource): string {
  const name = `${groupResourceOf(resource)}/${resource.version}`;
  return resource.view === undefined ? name : `${name} (${resource.view})`;
}

function keepOwnManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  const own = managedFields.filter((entry) => isJsonObject(entry) && field(entry, "manager") === FIELD_MANAGER);
  return { ...object, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: own } };
}
