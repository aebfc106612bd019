/**
 * Objects while they are worked on: a private copy that defaulting and preparation may change, and readers for objects of which
 * nothing is known but their kind.
 *
 * The readers answer with Go's zero values, as the server's own code sees them: a missing text is "", a missing list is empty.
 */
import { field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";

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
 * A copy of the object with the change made to it. managedFields are not copied: no kind changes them, they are often the larger part of an
 * object, and apply/ knows them again by their identity.
 */
export function changed(object: KubeObject, change: (draft: Draft) => void): KubeObject {
  const { metadata, ...rest } = asJson(object);
  const copied = copyOf(rest) as Draft;
  const draft: Draft = { ...asJson(object), ...copied, ...(metadata === undefined ? {} : { metadata: copyOfMetadata(metadata) }) };
  change(draft);
  return draft as unknown as KubeObject;
}

function copyOfMetadata(metadata: Json): Json {
  if (!isJsonObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return copyOf(metadata) ?? null;
  const { managedFields } = metadata;
  const copied = copyOf({ ...metadata, managedFields: null }) as Draft;
  copied["managedFields"] = managedFields;
  return copied;
}

/** Objects are JSON with a known head. */
export function asJson(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

/** The nested object to be changed; made when it is not there. Only for drafts. */
export function childOf(draft: Draft, name: string): Draft {
  const known = field(draft, name);
  if (isJsonObject(known)) return known;
  const made: Draft = {};
  draft[name] = made;
  return made;
}

export function at(value: unknown, ...path: readonly string[]): Json | undefined {
  return fieldAt(value, ...path) ?? undefined;
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function isTrueAt(value: unknown, ...path: readonly string[]): boolean {
  return fieldAt(value, ...path) === true;
}

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = fieldAt(value, ...path);
  return isJsonObject(found) ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The objects of a list; what is no object counts as an empty one. */
export function objectsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  return listAt(value, ...path).map((item) => (isJsonObject(item) ? item : {}));
}

/** The same, to be changed. Only for drafts. */
export function draftsAt(draft: Draft, ...path: readonly string[]): readonly Draft[] {
  return objectsAt(draft, ...path);
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item): item is string => typeof item === "string");
}

/** The entries of a map of texts, sorted by key as Go's printers and our messages want them. */
export function entriesAt(value: unknown, ...path: readonly string[]): readonly (readonly [string, string])[] {
  return Object.entries(objectAt(value, ...path) ?? {})
    .filter((entry): entry is [string, string] => typeof entry[1] === "string")
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
