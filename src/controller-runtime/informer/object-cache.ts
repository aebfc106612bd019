/**
 * The objects of an informer, with indexes. Its inputs are lists and events, its results are changes; each change is returned once.
 *
 * Events may arrive twice or late. A late event of a deleted object would add it again, so deletions are
 * remembered until a list or bookmark proves that everything before it has been delivered.
 */
import { keyOf, keyText, type KubeObject, type ObjectKey } from "#kube";
import { Tombstones } from "./tombstones.ts";
import { orderOf } from "./versions.ts";

export type CacheChange<T> = { readonly key: ObjectKey; readonly before: T | undefined; readonly after: T | undefined };

type Index<T> = { readonly keysOf: (object: T) => readonly string[]; readonly buckets: Map<string, Map<string, T>> };

export class ObjectCache<T extends KubeObject> {
  #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #tombstones = new Tombstones();
  /** Everything up to this version has been delivered. */
  #floor: string | undefined;

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  addIndex(name: string, keysOf: (object: T) => readonly string[]): void {
    if (this.#indexes.has(name)) throw new Error(`an index ${name} exists already`);
    const index: Index<T> = { keysOf, buckets: new Map() };
    for (const [key, object] of this.#objects) enter(index, key, object, keysOf(object));
    this.#indexes.set(name, index);
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`there is no index ${name}`);
    return [...(index.buckets.get(value)?.values() ?? [])];
  }

  /** A complete list: objects that it lacks are deleted. The list is a snapshot of the server and always wins. */
  replace(objects: readonly T[], resourceVersion: string): readonly CacheChange<T>[] {
    const listed = new Set<string>();
    const changes: CacheChange<T>[] = [];
    for (const object of objects) {
      const key = keyText(keyOf(object));
      listed.add(key);
      const before = this.#objects.get(key);
      if (isSame(before, object)) continue;
      this.#put(key, object);
      changes.push({ key: keyOf(object), before, after: object });
    }
    for (const [key, before] of this.#objects) {
      if (listed.has(key)) continue;
      this.#drop(key, before);
      changes.push({ key: keyOf(before), before, after: undefined });
    }
    this.settle(resourceVersion);
    return changes;
  }

  /** An ADDED or MODIFIED event; they mean the same when a watch is resumed. */
  put(object: T): CacheChange<T> | undefined {
    const key = keyText(keyOf(object));
    const before = this.#objects.get(key);
    const { resourceVersion } = object.metadata;
    if (before === undefined ? this.#isGhost(key, resourceVersion) : isStale(resourceVersion, before)) return undefined;
    this.#put(key, object);
    this.#tombstones.delete(key);
    return { key: keyOf(object), before, after: object };
  }

  /** A DELETED event. Its resourceVersion is that of the deletion, or (old servers) the object's last. */
  remove(object: T): CacheChange<T> | undefined {
    const key = keyText(keyOf(object));
    const before = this.#objects.get(key);
    const { resourceVersion } = object.metadata;
    if (before === undefined || orderOf(resourceVersion, before.metadata.resourceVersion) === "older") return undefined;
    this.#drop(key, before);
    if (resourceVersion !== undefined) this.#tombstones.bury(key, resourceVersion);
    return { key: keyOf(before), before, after: undefined };
  }

  /** Everything up to this resourceVersion has been delivered. */
  settle(resourceVersion: string): void {
    this.#floor = resourceVersion;
    this.#tombstones.clear();
  }

  #isGhost(key: string, version: string | undefined): boolean {
    const [belowFloor, belowGrave] = [orderOf(version, this.#floor), orderOf(version, this.#tombstones.get(key))];
    return belowFloor === "older" || belowFloor === "same" || belowGrave === "older" || belowGrave === "same";
  }

  /** All index keys are computed before anything changes: a function that throws leaves the cache unchanged. */
  #put(key: string, object: T): void {
    const before = this.#objects.get(key);
    const moves = [...this.#indexes.values()].map((index) => ({
      index,
      from: before === undefined ? [] : index.keysOf(before),
      to: index.keysOf(object),
    }));
    for (const { index, from, to } of moves) {
      leave(index, key, from);
      enter(index, key, object, to);
    }
    this.#objects.set(key, object);
  }

  #drop(key: string, before: T): void {
    const moves = [...this.#indexes.values()].map((index) => ({ index, from: index.keysOf(before) }));
    for (const { index, from } of moves) leave(index, key, from);
    this.#objects.delete(key);
  }
}

function isSame(before: KubeObject | undefined, after: KubeObject): boolean {
  if (before === undefined || before.metadata.uid !== after.metadata.uid) return false;
  return orderOf(after.metadata.resourceVersion, before.metadata.resourceVersion) === "same";
}

function isStale(version: string | undefined, known: KubeObject): boolean {
  const order = orderOf(version, known.metadata.resourceVersion);
  return order === "older" || order === "same";
}

function enter<T>(index: Index<T>, key: string, object: T, values: readonly string[]): void {
  for (const value of values) {
    let bucket = index.buckets.get(value);
    if (bucket === undefined) index.buckets.set(value, (bucket = new Map()));
    bucket.set(key, object);
  }
}

function leave<T>(index: Index<T>, key: string, values: readonly string[]): void {
  for (const value of values) {
    const bucket = index.buckets.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) index.buckets.delete(value);
  }
}
