/**
 * Results that are kept: one value (`once`), by text or number (`memoize`), by object (`memoizeByObject`).
 *
 * Keys come from users, so `memoize` has two bounds: the number of entries and the length of a key. It has two generations: when the younger
 * has grown to half of the limit, the older is dropped; what is used again moves to the younger. A hit costs one look-up in a Map.
 * `memoizeByObject` is weak in its keys, so its entries need no other bound.
 *
 * `npm run check` refuses other Maps that a module fills: each of them would need its own bound.
 */

/** A value that is made when it is first needed, and kept. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

type MemoKey = string | number;
/** Undefined is the mark of an absent entry. */
type MemoValue = object | string | number | boolean;

export type MemoLimits<K, V> = {
  /** At most so many entries are kept; with `weigh`, entries of at most this weight together. */
  readonly limit: number;
  readonly weigh?: (value: V, key: K) => number;
  /** Longer keys are not kept. */
  readonly longestKey?: number;
};

const LONGEST_KEY = 1_024;

/** The Map of `memoize`, for results that cannot be made from the key alone. */
export type BoundedMap<K, V> = {
  readonly get: (key: K) => V | undefined;
  /** Gives back the value. */
  readonly set: (key: K, value: V) => V;
  /** Not by `get` and `set`: two calls more take a quarter longer. */
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
 * `make`, with its results kept within limits. A result must depend on the key alone.
 *
 * @example const quantityOf = memoize({ limit: 1_000 }, parseQuantity);
 */
export function memoize<K extends MemoKey, V extends MemoValue>(limits: MemoLimits<K, V>, make: (key: K) => V): (key: K) => V {
  return boundedMap<K, V>(limits).memoize(make);
}

/**
 * `make`, with its results kept for as long as their objects live. The objects must not change. `recursive` is the result for an object
 * whose result is being made: a type may contain itself.
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
