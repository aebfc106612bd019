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
import { watchDefinitions, type DefinitionWatch } from "./informer/definition-watch.ts";
import type { ChangeHandler, InformerHealth } from "./informer/informer.ts";
import { InformerGroup, type ReadAccess } from "./informer/informer-group.ts";
import { EVERYWHERE, isDefinedKind, type ManagerScope } from "./scope.ts";
import { aborted } from "./signals.ts";

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

/** An index of cached objects: `cache.byIndex(resource, name, value)`. Names are shared by all users of a set of informers. */
export type Index = { readonly resource: Resource; readonly name: string; keysOf(object: KubeObject): readonly string[] };

export function index<T extends KubeObject>(resource: Resource<T>, name: string, keysOf: (object: T) => readonly string[]): Index {
  const typed: { readonly resource: Resource; readonly name: string; keysOf(object: T): readonly string[] } = { resource, name, keysOf };
  return typed;
}

/** The kinds that a user of the informers reads, and its indexes. A kind in both lists is not optional. */
export type InformerNeeds = {
  readonly required: readonly Resource[];
  readonly optional: readonly Resource[];
  readonly indexes?: readonly Index[];
};

/** The informers of one user. */
export type InformerUse = {
  /** True once all of them have their first complete list; false when the signal fires first. */
  readonly synced: (signal: AbortSignal) => Promise<boolean>;
  /** Ends the informers that no other user has. */
  readonly end: () => Promise<void>;
};

/** Until it is started, `running` is resolved. */
type Loop = { readonly stop: AbortController; running: Promise<void> };

type Followed = Loop & {
  readonly group: InformerGroup;
  /** By user: whether it requires the kind. */
  readonly users: Map<object, boolean>;
  readonly indexes: Map<string, Index>;
  /** The name of its definition, if the kind may be installed and removed. */
  readonly definition: string | undefined;
};

/**
 * Kinds are followed while they have a user. A kind that was declared and has none at present is read as one that the cluster does not have.
 */
export class InformerSet implements CacheReader {
  readonly #options: InformerSetOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #declared = new Set<string>();
  readonly #accessHandlers = new Set<() => void>();
  readonly #ending = new Set<Promise<void>>();
  /** The watch of definitions, while a followed kind may have one. */
  #definitions: (Loop & Pick<DefinitionWatch, "isDefined">) | undefined;
  #signal: AbortSignal | undefined;

  /** The given kinds are followed as long as the set runs. */
  constructor(options: InformerSetOptions, required: readonly Resource[] = [], optional: readonly Resource[] = []) {
    this.#options = options;
    this.use({ required, optional });
  }

  /** Allows reading these kinds, also while they have no user. */
  declare({ required, optional }: InformerNeeds): void {
    for (const resource of [...required, ...optional]) this.#declared.add(nameOf(resource));
  }

  /** Follows these kinds, at once if the set runs. */
  use({ required, optional, indexes = [] }: InformerNeeds): InformerUse {
    const user = {};
    const names = new Set([...required, ...optional].map(nameOf));
    for (const resource of required) this.#add(resource, user, true);
    for (const resource of optional) this.#add(resource, user, false);
    for (const one of indexes) this.#addIndex(one);
    const own = [...names].flatMap((name) => this.#followed.get(name) ?? []);
    return {
      synced: async (signal) => (await Promise.all(own.map(({ group }) => group.synced(signal)))).every(Boolean),
      end: async () => void (await Promise.all([...names].map((name) => this.#release(name, user)))),
    };
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): T | undefined {
    // the informer was created for this resource, so its objects are T as far as the API server enforces the schema
    return this.#of(resource)?.get(key) as T | undefined;
  }

  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[] {
    return (this.#of(resource)?.list(namespace) ?? []) as readonly T[];
  }

  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[] {
    return (this.#of(resource)?.byIndex(index, value) ?? []) as readonly T[];
  }

  isServed(resource: Resource): boolean {
    return this.#of(resource)?.served ?? false;
  }

  access(resource: Resource, namespace: string): ReadAccess {
    return this.#of(resource)?.access(namespace) ?? "not-followed";
  }

  /** Calls back when an optional kind is served or removed, or when it becomes readable or forbidden in a namespace. */
  subscribeServed(resource: Resource, handler: () => void): () => void {
    return this.#used(resource).subscribeServed(handler);
  }

  /** Calls back when any kind is served or removed, or becomes readable or forbidden in any namespace. */
  subscribeAccess(handler: () => void): () => void {
    const own = () => handler();
    this.#accessHandlers.add(own);
    return () => void this.#accessHandlers.delete(own);
  }

  subscribe(resource: Resource, handler: ChangeHandler<KubeObject>): () => void {
    return this.#used(resource).subscribe(handler);
  }

  /** Ends when the signal fires and every informer has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new Error("a set of informers runs once");
    this.#signal = signal;
    for (const followed of this.#followed.values()) this.#start(followed);
    await aborted(signal);
    for (const { stop } of this.#followed.values()) stop.abort();
    this.#definitions?.stop.abort();
    await Promise.all([...[...this.#followed.values()].map(({ running }) => running), this.#definitions?.running, ...this.#ending]);
  }

  /** True once every informer has its first complete list; false when the signal fires first. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const all = await Promise.all([...this.#followed.values()].map(({ group }) => group.synced(signal)));
    return all.every(Boolean);
  }

  health(): ReadonlyMap<string, InformerHealth> {
    const named = (name: string, place: string) => (place === EVERYWHERE ? name : `${name} in ${place}`);
    const all = [...this.#followed];
    return new Map(all.flatMap(([name, { group }]) => [...group.health()].map(([place, health]) => [named(name, place), health] as const)));
  }

  #add(resource: Resource, user: object, required: boolean): void {
    const name = nameOf(resource);
    this.#declared.add(name);
    const followed = this.#followed.get(name) ?? this.#create(resource, !required);
    followed.users.set(user, required || followed.users.get(user) === true);
    followed.group.require(isRequired(followed));
  }

  /** An index that exists is kept: its user was started again. */
  #addIndex(index: Index): void {
    const { resource, name } = index;
    const followed = this.#followed.get(nameOf(resource));
    if (followed === undefined || followed.indexes.get(name) === index) return;
    followed.group.addIndex(name, (object) => index.keysOf(object));
    followed.indexes.set(name, index);
  }

  #create(resource: Resource, optional: boolean): Followed {
    const { scope, ...options } = this.#options;
    // in some namespaces only, the operator has no right to read definitions
    const definition = scope === undefined && isDefinedKind(resource, optional) ? groupResourceOf(resource) : undefined;
    const isDefined = () => (definition === undefined ? undefined : this.#definitions?.isDefined(definition));
    const group = new InformerGroup({ ...options, resource, optional, isDefined, transform: keepOwnManagedFields }, scope);
    group.addIndex(OWNER_INDEX, (object) => [labelOf(object, OWNER_LABEL) ?? []].flat());
    group.subscribeServed(() => this.#accessHandlers.forEach((handler) => handler()));
    const loop = { stop: new AbortController(), running: Promise.resolve() };
    const followed = { ...loop, group, users: new Map(), indexes: new Map(), definition };
    this.#followed.set(nameOf(resource), followed);
    this.#start(followed);
    return followed;
  }

  #start(followed: Followed): void {
    if (this.#signal?.aborted !== false) return;
    followed.running = followed.group.run(followed.stop.signal);
    if (followed.definition !== undefined) this.#definitions ??= this.#watchDefinitions();
  }

  #watchDefinitions(): Loop & DefinitionWatch {
    const onChange = (name: string, definition: "exists" | "removed") => {
      for (const followed of this.#followed.values()) if (followed.definition === name) followed.group.definitionChanged(definition);
    };
    // informers that waited for a report ask for themselves again
    const onUnreadable = () => {
      for (const { group, definition } of this.#followed.values()) if (definition !== undefined) group.definitionChanged("exists");
    };
    const stop = new AbortController();
    return { stop, ...watchDefinitions({ ...this.#options, onChange, onUnreadable }, stop.signal) };
  }

  async #release(name: string, user: object): Promise<void> {
    const followed = this.#followed.get(name);
    if (followed?.users.delete(user) !== true) return;
    if (followed.users.size > 0) return followed.group.require(isRequired(followed));
    this.#followed.delete(name);
    const isDefined = [...this.#followed.values()].some(({ definition }) => definition !== undefined);
    const ending: Loop[] = [followed];
    if (this.#definitions !== undefined && !isDefined) {
      ending.push(this.#definitions);
      this.#definitions = undefined;
    }
    await Promise.all(ending.map((loop) => this.#end(loop)));
    if (!this.#followed.has(name)) followed.group.removeMetrics();
  }

  async #end({ stop, running }: Loop): Promise<void> {
    this.#ending.add(running);
    stop.abort();
    await running;
    this.#ending.delete(running);
  }

  /** Undefined: declared, and not followed at present. */
  #of(resource: Resource): InformerGroup | undefined {
    const name = nameOf(resource);
    const group = this.#followed.get(name)?.group;
    if (group === undefined && !this.#declared.has(name)) throw new Error(`no controller of this manager declares ${name}`);
    return group;
  }

  #used(resource: Resource): InformerGroup {
    const group = this.#of(resource);
    if (group === undefined) throw new Error(`no active role of this manager follows ${nameOf(resource)}`);
    return group;
  }
}

function isRequired({ users }: Followed): boolean {
  return [...users.values()].includes(true);
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
