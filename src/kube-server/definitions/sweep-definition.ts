/**
 * Deletes the objects of a deleted definition. The definition itself is deleted after its last object.
 *
 * An object with finalizers is only marked: its resource stays served, so that its finalizers can be removed. A condition reports the wait.
 */
import { timestamp } from "#base";
import { jsonEqual, type KubeObject } from "#kube";
import { trackUpdate } from "../apply/index.ts";
import { CLEANUP_FINALIZER, sweeping } from "../custom-resources/index.ts";
import type { ResourceType } from "../resource-type.ts";
import type { Core } from "../protocol/core.ts";
import { asJsonObject, asObject, managedKind } from "../protocol/managed-kinds.ts";
import { finalizersOf, metaNumber, metaText, withMetadata } from "../protocol/object-meta.ts";
import type { Stored } from "../store/index.ts";

export class DefinitionSweeper {
  readonly #core: Core;
  readonly #definitions: ResourceType;
  /** By collection: the function that ends the wait for its last object. */
  readonly #waits = new Map<string, () => void>();

  constructor(core: Core, definitions: ResourceType) {
    this.#core = core;
    this.#definitions = definitions;
  }

  static isDue(definition: KubeObject): boolean {
    return metaText(definition, "deletionTimestamp") !== "" && finalizersOf(definition).includes(CLEANUP_FINALIZER);
  }

  sweep(stored: Stored, collection: string): void {
    const listed = this.#core.store.list(collection);
    for (const item of listed.ok ? listed.value.items : []) this.#deleteInstance(collection, item);
    if (this.#core.store.count(collection) > 0) return this.#waitFor(stored, collection);
    this.stopWaiting(collection);
    const left = finalizersOf(stored.object).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    this.#write(stored, left.length === 0 ? undefined : withMetadata(stored.object, { finalizers: left }));
  }

  stopWaiting(collection: string): void {
    this.#waits.get(collection)?.();
    this.#waits.delete(collection);
  }

  close(): void {
    for (const collection of this.#waits.keys()) this.stopWaiting(collection);
  }

  #deleteInstance(collection: string, { key, revision: expected, object }: Stored): void {
    const { store, clock } = this.#core;
    if (finalizersOf(object).length === 0) return void store.write({ collection, key, expected, object: undefined });
    if (metaText(object, "deletionTimestamp") !== "") return;
    const generation = (metaNumber(object, "generation") ?? 0) + 1;
    const marked = withMetadata(object, { deletionTimestamp: timestamp(clock), deletionGracePeriodSeconds: 0, generation });
    store.write({ collection, key, expected, object: (revision) => withMetadata(marked, { resourceVersion: String(revision) }) });
  }

  #waitFor(stored: Stored, collection: string): void {
    const { store, clock, types } = this.#core;
    if (!this.#waits.has(collection)) {
      const onEvent = ({ type: change }: { readonly type: string }) => {
        if (change === "DELETED" && store.count(collection) === 0) this.#finish(stored.key, collection);
      };
      const watching = store.watch({ collection, from: store.revision, onEvent });
      if (watching.ok) this.#waits.set(collection, watching.value.end);
    }
    const now = timestamp(clock);
    const old = asJsonObject(stored.object);
    const next = sweeping(old, now);
    if (jsonEqual(next, old)) return;
    const tracked = trackUpdate({ ...managedKind(types, this.#definitions, "status"), manager: "kube-apiserver", now, old, next });
    this.#write(stored, asObject(tracked.ok ? tracked.value : next));
  }

  #finish(key: string, collection: string): void {
    const current = this.#core.store.get(this.#definitions.collection, key);
    if (current !== undefined && DefinitionSweeper.isDue(current.object)) this.sweep(current, collection);
  }

  #write({ key, revision: expected }: Stored, next: KubeObject | undefined): void {
    const { collection } = this.#definitions;
    const object = next === undefined ? undefined : (revision: number) => withMetadata(next, { resourceVersion: String(revision) });
    this.#core.store.write({ collection, key, expected, object });
  }
}
