/**
 * Objects while they are worked on: drafts that defaulting and preparation may change, and readers for objects of which nothing is known but
 * their kind. Below its first level a draft shares everything with the object it was made from, until `childOf` or `draftsAt` is asked.
 *
 * The readers answer with Go's zero values, as the server's own code sees them: a missing text is "", a missing list is empty.
 */
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";

export type Draft = { [field: string]: Json | undefined };

export function copyOf(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => copyOf(item) ?? null);
  if (!isJsonObject(value)) return value;
  // spread first: an object of a shape that the engine knows is copied in one go
  const copy: Draft = { ...value };
  for (const name in copy) {
    const inner = copy[name];
    if (typeof inner === "object" && inner !== null) setField(copy, name, copyOf(inner));
  }
  return copy;
}

/** A plain assignment to "__proto__" would set the prototype. */
export function setField(draft: Draft, name: string, value: Json | undefined): void {
  if (name === "__proto__") Object.defineProperty(draft, name, { value, enumerable: true, configurable: true, writable: true });
  else draft[name] = value;
}

/**
 * Returns the changed object. Only parts that are accessed through `childOf` and `draftsAt` are copied; unchanged parts are shared, so that
 * later comparisons by identity succeed.
 */
export function changed(object: KubeObject, change: (draft: Draft) => void): KubeObject {
  const draft: Draft = { ...asJson(object) };
  change(draft);
  return draft as unknown as KubeObject;
}

/** Objects are JSON with a known head. */
export function asJson(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

/**
 * A nested object to be changed: a copy in its place, or a new empty object. Only for drafts. Each call creates a new copy, so a caller must
 * reuse the returned one.
 */
export function childOf(draft: Draft, name: string): Draft {
  const known = field(draft, name);
  const child: Draft = isJsonObject(known) ? { ...known } : {};
  setField(draft, name, child);
  return child;
}

/** Copies a field from another object, or removes it. */
export function carryField(to: Draft, from: Readonly<Draft> | undefined, name: string): void {
  const value = field(from, name);
  if (value === undefined) delete to[name];
  else setField(to, name, value);
}

export function at(value: unknown, ...path: readonly string[]): Json | undefined {
  let place: unknown = value;
  for (const name of path) place = field(place, name);
  return (place as Json | undefined) ?? undefined;
}

type Step = string | undefined;

/** As `at`, with the path as separate arguments: validation calls it thousands of times for each object, and arrays would be slow. */
function found(value: unknown, a: Step, b: Step, c: Step, d: Step): Json | undefined {
  const first = a === undefined ? (value as Json | undefined) : field(value, a);
  if (b === undefined) return first;
  const second = field(first, b);
  if (c === undefined) return second;
  const third = field(second, c);
  return d === undefined ? third : field(third, d);
}

export function textAt(value: unknown, a?: string, b?: string, c?: string, d?: string): string {
  const text = found(value, a, b, c, d);
  return typeof text === "string" ? text : "";
}

export function numberAt(value: unknown, a?: string, b?: string, c?: string, d?: string): number | undefined {
  const number = found(value, a, b, c, d);
  return typeof number === "number" ? number : undefined;
}

export function isTrueAt(value: unknown, a?: string, b?: string, c?: string, d?: string): boolean {
  return found(value, a, b, c, d) === true;
}

export function objectAt(value: unknown, a?: string, b?: string, c?: string, d?: string): JsonObject | undefined {
  const object = found(value, a, b, c, d);
  return isJsonObject(object) ? object : undefined;
}

const NO_ITEMS: readonly never[] = [];

export function listAt(value: unknown, a?: string, b?: string, c?: string, d?: string): readonly Json[] {
  const list = found(value, a, b, c, d);
  return Array.isArray(list) ? list : NO_ITEMS;
}

/** The objects of a list; what is no object counts as an empty one. */
export function objectsAt(value: unknown, a?: string, b?: string, c?: string, d?: string): readonly JsonObject[] {
  const list = listAt(found(value, a, b, c, d));
  return list.every(isJsonObject) ? list : list.map((item) => (isJsonObject(item) ? item : {}));
}

/** The same, to be changed: copies in their place. Only for drafts. */
export function draftsAt(draft: Draft, name: string): readonly Draft[] {
  const items: Draft[] = objectsAt(draft, name).map((item) => ({ ...item }));
  if (items.length > 0) setField(draft, name, items);
  return items;
}

export function textsAt(value: unknown, a?: string, b?: string, c?: string, d?: string): readonly string[] {
  const list = found(value, a, b, c, d);
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : NO_ITEMS;
}

/** The entries of a map of texts, sorted by key as Go's printers and our messages want them. */
export function entriesAt(value: unknown, a?: string, b?: string, c?: string, d?: string): readonly (readonly [string, string])[] {
  const map = found(value, a, b, c, d);
  if (!isJsonObject(map)) return NO_ITEMS;
  const entries: [string, string][] = [];
  for (const name in map) {
    const text = map[name];
    if (typeof text === "string") entries.push([name, text]);
  }
  return entries.length < 2 ? entries : entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
