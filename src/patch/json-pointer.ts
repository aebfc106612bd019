/**
 * JSON pointers (RFC 6901). A change returns a new document that shares its unchanged parts. Containers that `OwnParts` has created for the
 * result are changed in place, otherwise 10,000 operations on one large map would copy it 10,000 times.
 *
 * Kubernetes' JSON patch library is lenient: text before the first slash is ignored, and indices may be negative or "+1".
 */
import { ok, type Result } from "#base";
import { failure, type PatchError } from "./errors.ts";
import { fieldOf, isList, isObject, setField, type Json, type JsonObject, type MutableObject } from "./json.ts";

/** Deeper than any document that a patch can create: longer pointers match nothing, and are not parsed completely. */
const MAX_NAMES = 10_000;

/**
 * The names of a pointer; undefined for a pointer without a slash or with too many names. The caller handles the empty pointer, which means
 * the whole document.
 */
export function parsePointer(pointer: string): readonly string[] | undefined {
  const parts = pointer.split("/", MAX_NAMES + 2);
  if (parts.length < 2 || parts.length > MAX_NAMES + 1) return undefined;
  const names = parts.slice(1);
  return pointer.includes("~") ? names.map((part) => part.replace(/~[01]/g, (escaped) => (escaped === "~1" ? "/" : "~"))) : names;
}

/** The value of a name; null for a missing field of a map, as in the library. */
export function child(container: Json, name: string): Result<Json | undefined, PatchError> {
  if (isObject(container)) return ok(fieldOf(container, name));
  if (!isList(container)) return failure("missing-path", "missing value");
  const index = indexIn(name, container.length - 1);
  return index.ok ? ok(container[index.value]) : index;
}

/** The index in a list. `last` is the highest allowed index: one more for insertions. */
export function indexIn(name: string, last: number): Result<number, PatchError> {
  if (!/^[+-]?\d{1,18}$/.test(name)) return failure("bad-operation", `strconv.Atoi: parsing ${JSON.stringify(name)}: invalid syntax`);
  const index = Number(name);
  const place = index < 0 ? index + last + 1 : index;
  if (place < 0 || place > last) return failure("missing-path", `Unable to access invalid index: ${index}: invalid index referenced`);
  return ok(place);
}

/** The containers that were created for a result: they are not shared, so they may be changed in place. */
export class OwnParts {
  readonly #made = new WeakSet<object>();

  list(list: readonly Json[]): Json[] {
    return this.#made.has(list) ? (list as Json[]) : this.#keep([...list]);
  }

  object(object: JsonObject): MutableObject {
    return this.#made.has(object) ? object : this.#keep({ ...object });
  }

  #keep<T extends object>(made: T): T {
    this.#made.add(made);
    return made;
  }
}

/**
 * `document`, or a copy of it, with a changed container at `path`. The path must exist. `from` is the start index in `path`, so that a long
 * path is never copied.
 */
export function changeAt(
  document: Json,
  { path, parts, from = 0 }: { readonly path: readonly string[]; readonly parts: OwnParts; readonly from?: number },
  change: (container: Json) => Result<Json, PatchError>,
): Result<Json, PatchError> {
  const name = path[from];
  if (name === undefined) return change(document);
  const inner = child(document, name);
  if (!inner.ok) return inner;
  if (!isObject(inner.value) && !isList(inner.value)) return failure("missing-path", "missing value");
  const changed = changeAt(inner.value, { path, parts, from: from + 1 }, change);
  if (!changed.ok || changed.value === inner.value) return changed.ok ? ok(document) : changed;
  return ok(replaceChild(document, name, changed.value, parts));
}

export function replaceChild(container: Json, name: string, value: Json, parts: OwnParts): Json {
  if (isList(container)) {
    const index = indexIn(name, container.length - 1);
    if (!index.ok) return container;
    const list = parts.list(container);
    list[index.value] = value;
    return list;
  }
  const object = parts.object(container as JsonObject);
  setField(object, name, value);
  return object;
}
