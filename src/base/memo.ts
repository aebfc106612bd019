/**
 * Bounded caches of results: one value (`once`), by text or number (`memoize`), by object (`memoizeByObject`).
 *
 * Keys come from users, so `memoize` has two bounds: the number of entries and the length of a key. It has two generations: when the younger
 * reaches half of the limit, the older is dropped; an entry that is used again moves to the younger. A hit costs one lookup in a Map.
 * `memoizeByObject` is weak in its keys, so its entries need no other bound.
 *
 * `npm run check` rejects other module-level caches: each of them would need its own bound.
 */

/** A value that is created at its first use, and kept. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

type MemoKey = string | number;
/** Undefined means that the entry is absent. */
type MemoValue = object | string | number | boolean;

export type MemoLimits<K, V> = {
  /** The maximum number of entries; with `weigh`, their maximum total weight. */
  readonly limit: number;
  readonly weigh?: (value: V, key: K) => number;
  /** Longer keys are not kept. */
  readonly longestKey?: number;
};

const LONGEST_KEY = 1_024;

/** The Map of `memoize`, for results that do not depend on the key alone. */
export type BoundedMap<K, V> = {
  readonly get: (key: K) => V | undefined;
  /** Returns the value. */
  readonly set: (key: K, value: V) => V;
  /** Not implemented with `get` and `set`: two more calls take 25 % longer. */
  readonly memoize: (make: (key: K) => V) => (key: K) => V;
  readonly has: (key: K) => boolean;
  readonly size: () => number;
};

export function boundedMap<K extends MemoKey, V extends MemoValue>(limits: MemoLimits<K, V>): BoundedMap<K, V> {
  const { limit, weigh, longestKey = LONGEST_KEY } = limits;
  const half = Math.floor(limit / 2);
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  let total = 0;
  const set = (key: K, value: V): V => {
    const weight = weigh?.(value, key) ?? 1;
    if (weight > half || (typeof key === "string" && key.length > longestKey)) return value;
    if (total + weight > half) {
      old = young;
      young = new Map();
      total = 0;
    }
    total += weight;
    young.set(key, value);
    return value;
  };
  const getOld = (key: K): V | undefined => {
    const value = old.get(key);
    return value === undefined ? undefined : set(key, value);
  };
  return {
    get: (key) => young.get(key) ?? getOld(key),
    memoize: (make) => (key) => young.get(key) ?? getOld(key) ?? set(key, make(key)),
    set,
    has: (key) => young.has(key) || old.has(key),
    size: () => young.size + old.size,
  };
}

/**
 * `make` with a bounded cache of its results. A result must depend on the key alone.
 *
 * @example const quantityOf = memoize({ limit: 1_000 }, parseQuantity);
 */
export function memoize<K extends MemoKey, V extends MemoValue>(limits: MemoLimits<K, V>, make: (key: K) => V): (key: K) => V {
  return boundedMap<K, V>(limits).memoize(make);
}

/**
 * `make` with its results cached for the lifetime of the key objects. The objects must not change. `recursive` is the result for an object
 * whose result is still being computed: a type may contain itself.
 *
 * @example const rulesOf = memoizeByObject(readRules);
 */
export function memoizeByObject<K extends object, V extends MemoValue>(make: (key: K) => V, recursive?: V): (key: K) => V {
  const kept = new WeakMap<K, V>();
  const miss = (key: K): V => {
    if (recursive !== undefined) kept.set(key, recursive);
    const value = make(key);
    kept.set(key, value);
    return value;
  };
  return (key) => kept.get(key) ?? miss(key);
}
