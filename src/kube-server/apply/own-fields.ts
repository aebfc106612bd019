/** Reads and writes fields with names from users: `__proto__` is an ordinary name. */
import type { Json, JsonObject } from "#kube";

export type GrowingObject = { [name: string]: Json | undefined };

/** Assigning `__proto__` would change the prototype instead. */
export function setField(object: GrowingObject, name: string, value: Json): void {
  if (name === "__proto__") Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

export function ownField(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function isEmptyObject(object: JsonObject): boolean {
  return Object.keys(object).every((name) => object[name] === undefined);
}
