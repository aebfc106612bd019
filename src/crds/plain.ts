/** Copies values that `normalise` would not change or reject: without `null`, `undefined` and `__proto__`. */
import { isJsonObject } from "#kube";

export const NOT_PLAIN = Symbol("something to drop or to refuse");

/** A copy of the value, or NOT_PLAIN if it contains `null`, `undefined` or `__proto__`. */
export function plainCopy(value: unknown): unknown {
  if (value === null || value === undefined) return NOT_PLAIN;
  if (Array.isArray(value)) return plainList(value);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const item = name === "__proto__" ? NOT_PLAIN : plainCopy(value[name]);
    if (item === NOT_PLAIN) return NOT_PLAIN;
    copy[name] = item;
  }
  return copy;
}

function plainList(list: readonly unknown[]): unknown {
  const items: unknown[] = [];
  for (const value of list) {
    const item = plainCopy(value);
    if (item === NOT_PLAIN) return NOT_PLAIN;
    items.push(item);
  }
  return items;
}
