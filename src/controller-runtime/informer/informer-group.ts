/**
 * The informers of one kind: one for the whole cluster, or one per namespace if the manager works in some namespaces only. Readers see one cache.
 *
 * A namespace whose objects may not be read does not block others: its informer counts as synced, and `access` reports the error.
 */
import type { KubeObject, ObjectKey, Resource } from "#kube";
import { EVERYWHERE, isNamespaceKind, selectionsOf, type ManagerScope } from "../scope.ts";
import { Informer, type ChangeHandler, type InformerHealth, type InformerOptions } from "./informer.ts";

/** Whether objects of a kind can be read in a namespace: yes, forbidden by the API server, or outside the manager's scope. */
export type ReadAccess = "readable" | "forbidden" | "not-followed";

export class InformerGroup {
  readonly #resource: Resource;
  readonly #parts: ReadonlyMap<string, Informer<KubeObject>>;
  readonly #all: readonly Informer<KubeObject>[];

  constructor(options: InformerOptions<KubeObject>, scope: ManagerScope | undefined) {
    this.#resource = options.resource;
    const mayBeForbidden = scope !== undefined;
    const selections = [...selectionsOf(options.resource, scope)];
    this.#parts = new Map(
      selections.map(([place, selection]) => [place, new Informer({ ...options, ...selection, place, mayBeForbidden })]),
    );
    this.#all = [...this.#parts.values()];
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#partOf(scopeKeyOf(this.#resource, key))?.get(key);
  }

  list(namespace?: string): readonly KubeObject[] {
    const [only, ...others] = this.#all;
    if (only !== undefined && others.length === 0) return only.list(namespace);
    if (namespace !== undefined) return this.#partOf(namespace)?.list(namespace) ?? [];
    return this.#all.flatMap((informer) => informer.list());
  }

  byIndex(name: string, value: string): readonly KubeObject[] {
    const [only, ...others] = this.#all;
    return only !== undefined && others.length === 0 ? only.byIndex(name, value) : this.#all.flatMap((one) => one.byIndex(name, value));
  }

  /** False: the cluster does not serve the kind, as far as discovery succeeded. */
  get served(): boolean {
    return this.#all.some((informer) => informer.served);
  }

  access(place: string): ReadAccess {
    const informer = this.#partOf(place);
    if (informer === undefined) return "not-followed";
    return informer.forbidden ? "forbidden" : "readable";
  }

  /** Calls back when the kind is served or removed, or when it becomes readable or forbidden in a namespace. */
  subscribeServed(handler: () => void): () => void {
    return callAll(this.#all.map((informer) => informer.subscribeServed(handler)));
  }

  /** The definition of the kind changed: informers that disagree with it list at once. */
  definitionChanged(definition: "exists" | "removed"): void {
    for (const informer of this.#all) informer.definitionChanged(definition);
  }

  subscribe(handler: ChangeHandler<KubeObject>): () => void {
    return callAll(this.#all.map((informer) => informer.subscribe(handler)));
  }

  addIndex(name: string, keysOf: (object: KubeObject) => readonly string[]): void {
    for (const informer of this.#all) informer.addIndex(name, keysOf);
  }

  /** Whether the cluster must serve the kind, or may lack it. */
  require(required: boolean): void {
    for (const informer of this.#all) informer.require(required);
  }

  removeMetrics(): void {
    for (const informer of this.#all) informer.removeMetrics();
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.run(signal)));
  }

  async synced(signal: AbortSignal): Promise<boolean> {
    return (await Promise.all(this.#all.map((informer) => informer.synced(signal)))).every(Boolean);
  }

  /** By namespace; `EVERYWHERE` for the whole cluster. */
  health(): ReadonlyMap<string, InformerHealth> {
    return new Map([...this.#parts].map(([place, informer]) => [place, informer.health()]));
  }

  #partOf(place: string): Informer<KubeObject> | undefined {
    return this.#parts.get(EVERYWHERE) ?? this.#parts.get(place);
  }
}

function scopeKeyOf(resource: Resource, { namespace, name }: ObjectKey): string {
  return isNamespaceKind(resource) ? name : (namespace ?? EVERYWHERE);
}

function callAll(ends: readonly (() => void)[]): () => void {
  return () => ends.forEach((end) => end());
}
