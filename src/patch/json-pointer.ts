/**
 * JSON pointers (RFC 6901) and one step along them, read-only: changing a place gives a new document that shares the rest.
 *
 * Kubernetes' JSON patch library is lenient: what stands before the first slash is ignored, and indices may be negative or "+1".
 */
import { ok, type Result } from "#base";
import { failure, type PatchError } from "./errors.ts";
import { fieldOf, isList, isObject, setField, type Json, type MutableObject } from "./json.ts";

/** The names along a pointer; undefined for a pointer without a slash. The empty pointer, which means everything, is not passed here. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  const parts = pointer.split("/");
  if (parts.length < 2) return undefined;
  return parts.slice(1).map((part) => part.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~")));
}

export type Container = Json & (readonly Json[] | { readonly [field: string]: Json | undefined });

/** The value at a name; null where a map has no such field, which is how the library sees it. */
export function child(container: Json, name: string): Result<Json | undefined, PatchError> {
  if (isObject(container)) return ok(fieldOf(container, name));
  if (!isList(container)) return failure("missing-path", "missing value");
  const index = indexIn(name, container.length - 1);
  return index.ok ? ok(container[index.value]) : index;
}

/** The place in a list. `last` is the highest index allowed: one more when something is inserted. */
export function indexIn(name: string, last: number): Result<number, PatchError> {
  if (!/^[+-]?\d{1,18}$/.test(name)) return failure("bad-operation", `strconv.Atoi: parsing ${JSON.stringify(name)}: invalid syntax`);
  const index = Number(name);
  const place = index < 0 ? index + last + 1 : index;
  if (place < 0 || place > last) return failure("missing-path", `Unable to access invalid index: ${index}: invalid index referenced`);
  return ok(place);
}

/** A copy of `document` in which the container at `path` has been changed. The path must be there. */
export function changeAt(
  document: Json,
  path: readonly string[],
  change: (container: Json) => Result<Json, PatchError>,
): Result<Json, PatchError> {
  const [name, ...rest] = path;
  if (name === undefined) return change(document);
  const inner = child(document, name);
  if (!inner.ok) return inner;
  if (!isObject(inner.value) && !isList(inner.value)) return failure("missing-path", "missing value");
  const changed = changeAt(inner.value, rest, change);
  return changed.ok ? ok(replaceChild(document, name, changed.value)) : changed;
}

export function replaceChild(container: Json, name: string, value: Json): Json {
  if (isList(container)) {
    const index = indexIn(name, container.length - 1);
    return index.ok ? container.with(index.value, value) : container;
  }
  const copy: MutableObject = { ...(container as MutableObject) };
  setField(copy, name, value);
  return copy;
}
