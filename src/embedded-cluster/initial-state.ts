/**
 * Stores the objects of a cluster at its start and restores them: for a server that several test suites use one after the other.
 *
 * Objects are deleted without finalizers and without admission, and watchers see each change. Leases that this process renews are not
 * changed.
 */
import { err, ok, type Result } from "#base";
import type { Store, Stored } from "#kube-server";

const LEASES = "coordination.k8s.io/leases";
/** Last: objects are deleted before the definition of their kind, so that their watchers see it. */
const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

export class InitialState {
  readonly #store: Store;
  /** By collection, then by key. */
  readonly #objects = new Map<string, Map<string, Stored>>();

  constructor(store: Store) {
    this.#store = store;
    for (const collection of store.collections()) {
      this.#objects.set(collection, new Map(itemsOf(store, collection).map((stored) => [stored.key, stored])));
    }
  }

  /** Makes the current state of this object part of the initial state. */
  keep({ collection, key }: { readonly collection: string; readonly key: string }): void {
    const stored = this.#store.get(collection, key);
    if (stored !== undefined) this.#objects.get(collection)?.set(key, stored);
  }

  /** Returns how many objects were created, changed or deleted. */
  restore(): Result<number, string> {
    const collections = new Set([...this.#objects.keys(), ...this.#store.collections()]);
    let changes = 0;
    for (const collection of [...collections].toSorted(definitionsLast)) {
      const restored = this.#restoreCollection(collection);
      if (!restored.ok) return restored;
      changes += restored.value;
    }
    return ok(changes);
  }

  #restoreCollection(collection: string): Result<number, string> {
    const wanted = this.#objects.get(collection) ?? new Map<string, Stored>();
    const now = new Map(itemsOf(this.#store, collection).map((stored) => [stored.key, stored]));
    let changes = 0;
    for (const key of new Set([...now.keys(), ...wanted.keys()])) {
      const [initial, current] = [wanted.get(key), now.get(key)];
      if (initial?.object === current?.object) continue;
      if (collection === LEASES && initial !== undefined && current !== undefined) continue;
      const written = this.#write(collection, key, { initial, current });
      if (!written.ok) return written;
      if (written.value !== undefined) wanted.set(key, written.value);
      changes += 1;
    }
    return ok(changes);
  }

  #write(collection: string, key: string, { initial, current }: Difference): Result<Stored | undefined, string> {
    const object = initial?.object;
    const written = this.#store.write({
      collection,
      key,
      expected: current?.revision,
      object:
        object === undefined
          ? undefined
          : (revision) => ({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }),
    });
    return written.ok ? written : err(`${collection} ${key}: ${written.error.kind === "storage" ? written.error.message : "changed"}`);
  }
}

type Difference = { readonly initial: Stored | undefined; readonly current: Stored | undefined };

function itemsOf(store: Store, collection: string): readonly Stored[] {
  const listed = store.list(collection);
  return listed.ok ? listed.value.items : [];
}

function definitionsLast(a: string, b: string): number {
  return Number(a === DEFINITIONS) - Number(b === DEFINITIONS);
}
