/**
 * JSON Patch (RFC 6902) as kube-apiserver applies it.
 *
 * It is more lenient than the RFC: replacing a missing field adds it, copying a missing field copies null, testing a missing field for
 * null succeeds, and indices may be negative. `dialect: "rfc6902"` rejects all of these.
 */
import { ok, type Result } from "#base";
import { failure, tooDeep, type PatchError } from "./errors.ts";
import { changeAt, child, indexIn, OwnParts, parsePointer, replaceChild } from "./json-pointer.ts";
import { depthExceeds, depthOf, fieldOf, isList, isObject, jsonEqual, MAX_DEPTH, type Json, type JsonObject } from "./json.ts";

/** Dialect and limits of a JSON patch. */
export type JsonPatchOptions = {
  readonly dialect?: "kubernetes" | "rfc6902";
  /** kube-apiserver rejects more than 10,000. */
  readonly maxOperations?: number;
};

const MAX_OPERATIONS = 10_000;
/** The total size of all copies, as in kube-apiserver. */
const MAX_COPIED = 3 * 1024 * 1024;
/**
 * List items that insertions and removals before them may shift, all together: a tenth of a second. Ten thousand operations at the front of a
 * list of two thousand stay below it.
 */
const MAX_SHIFTED = 20_000_000;
type Applied = Result<Json, PatchError>;
type Work = {
  readonly strict: boolean;
  readonly parts: OwnParts;
  /** Characters of JSON. */
  copied: number;
  /** List items. */
  shifted: number;
};
type Step = { readonly document: Json; readonly operation: JsonObject; readonly path: string; readonly work: Work };

/**
 * Applies JSON Patch operations in order; returns the first error.
 *
 * @example
 * applyJsonPatch({ a: [1, 3] }, [{ op: "test", path: "/a/0", value: 1 }, { op: "add", path: "/a/1", value: 2 }]) // ok: { a: [1, 2, 3] }
 */
export function applyJsonPatch(document: Json, operations: Json, options: JsonPatchOptions = {}): Applied {
  if (!isList(operations)) return failure("bad-json", "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  const limit = options.maxOperations ?? MAX_OPERATIONS;
  if (operations.length > limit) {
    return failure("too-many-operations", `The allowed maximum operations in a JSON patch is ${limit}, got ${operations.length}`);
  }
  const depth = depthOf(document, MAX_DEPTH);
  if (depth > MAX_DEPTH || depthExceeds(operations, MAX_DEPTH)) return tooDeep();
  const work: Work = { strict: options.dialect === "rfc6902", parts: new OwnParts(), copied: 0, shifted: 0 };
  let result = document;
  for (const operation of operations) {
    if (!isObject(operation)) return failure("bad-json", "json: cannot unmarshal value into Go value of type jsonpatch.Operation");
    const next = applyOperation(result, operation, work);
    if (!next.ok) return next;
    result = next.value;
  }
  return isShallow(depth, operations) || !depthExceeds(result, MAX_DEPTH) ? ok(result) : tooDeep();
}

/** Whether the result cannot be too deep: each operation adds at most the depth of its value. A copy or move can add that of the document. */
function isShallow(depth: number, operations: readonly Json[]): boolean {
  let most = depth;
  for (const operation of operations) {
    if (!isObject(operation) || fieldOf(operation, "from") !== undefined) return false;
    most += depthOf(fieldOf(operation, "value"), MAX_DEPTH);
  }
  return most <= MAX_DEPTH;
}

const OPERATIONS: ReadonlyMap<string, (step: Step) => Applied> = new Map([
  ["add", add],
  ["remove", remove],
  ["replace", replace],
  ["move", move],
  ["copy", copy],
  ["test", test],
]);

function applyOperation(document: Json, operation: JsonObject, work: Work): Applied {
  const name = fieldOf(operation, "op");
  const kind = typeof name === "string" ? name : "unknown";
  const run = OPERATIONS.get(kind);
  if (run === undefined) return failure("bad-operation", `Unexpected kind: ${kind}`);
  const path = fieldOf(operation, "path");
  if (typeof path !== "string") return failure("bad-operation", `${kind} operation failed to decode path: missing value`);
  return run({ document, operation, path, work });
}

function add({ document, operation, path, work }: Step): Applied {
  return addAt({ document, path, work }, fieldOf(operation, "value") ?? null, {
    missing: `add operation does not apply: doc is missing path: "${path}": missing value`,
    failed: `error in add for path: '${path}'`,
  });
}

type Messages = { readonly missing: string; readonly failed: string };

type Place = Omit<Step, "operation">;

function addAt(place: Place, value: Json, messages: Messages): Applied {
  const { strict, parts } = place.work;
  if (place.path === "" && strict) return ok(value);
  return changeLast(place, messages, (container, name) => {
    if (isObject(container)) return ok(replaceChild(container, name, value, parts));
    const list = container as readonly Json[];
    const index = name === "-" ? ok(list.length) : indexIn(name, list.length);
    if (!index.ok && index.error.kind === "bad-operation") {
      return failure("bad-operation", `value was not a proper array index: '${name}': ${index.error.message}`);
    }
    if (strict && name.startsWith("-") && name !== "-") return failure("missing-path", `"${name}" is not an index`);
    return index.ok ? splice(place.work, list, { at: index.value, remove: 0, add: [value] }) : index;
  });
}

type Splice = { readonly at: number; readonly remove: 0 | 1; readonly add: readonly Json[] };

/** The limit is checked before the items are shifted. */
function splice(work: Work, given: readonly Json[], { at, remove: removed, add: added }: Splice): Applied {
  work.shifted += given.length - at - removed;
  if (work.shifted > MAX_SHIFTED) {
    const advice = "change long lists near their end, or replace the whole list";
    return failure("too-much-work", `The JSON patch shifts more than ${MAX_SHIFTED} list items; ${advice}`);
  }
  const list = work.parts.list(given);
  list.splice(at, removed, ...added);
  return ok(list);
}

function remove({ document, path, work }: Step): Applied {
  return removeAt(
    { document, path, work },
    {
      missing: `remove operation does not apply: doc is missing path: "${path}": missing value`,
      failed: `error in remove for path: '${path}'`,
    },
  );
}

function removeAt(place: Place, messages: Messages): Applied {
  const { parts } = place.work;
  return changeLast(place, messages, (container, name) => {
    if (isObject(container)) {
      if (fieldOf(container, name) === undefined)
        return failure("missing-path", `Unable to remove nonexistent key: ${name}: missing value`);
      const object = parts.object(container);
      delete object[name];
      return ok(object);
    }
    const list = container as readonly Json[];
    const index = indexIn(name, list.length - 1);
    return index.ok ? splice(place.work, list, { at: index.value, remove: 1, add: [] }) : index;
  });
}

function replace({ document, operation, path, work }: Step): Applied {
  const { strict, parts } = work;
  const value = fieldOf(operation, "value") ?? null;
  if (path === "") {
    if (strict || isObject(value) || isList(value)) return ok(value);
    return failure("bad-operation", "replace operation value must be object or array: %!w(<nil>)");
  }
  const messages = { missing: `replace operation does not apply: doc is missing path: ${path}: missing value`, failed: "" };
  return changeLast({ document, path, work }, messages, (container, name) => {
    const current = child(container, name);
    if (current.ok && (current.value !== undefined || !strict)) return ok(replaceChild(container, name, value, parts));
    return failure("missing-path", `replace operation does not apply: doc is missing key: ${path}: missing value`);
  });
}

function move({ document, operation, path, work }: Step): Applied {
  const from = fieldOf(operation, "from");
  if (typeof from !== "string")
    return failure("bad-operation", "move operation failed to decode from: operation, missing from field: missing value");
  const missing = `move operation does not apply: doc is missing from path: ${from}: missing value`;
  const value = valueAt(document, from, missing, (name) => `error in move for path: '${name}'`);
  if (!value.ok) return value;
  if (work.strict && path.startsWith(`${from}/`)) return failure("bad-operation", `cannot move ${from} into itself`);
  const name = parsePointer(from)?.at(-1) ?? "";
  const removed = removeAt({ document, path: from, work }, { missing, failed: `error in move for path: '${name}'` });
  if (!removed.ok) return removed;
  return addAt({ document: removed.value, path, work }, value.value ?? null, {
    missing: `move operation does not apply: doc is missing destination path: ${path}: missing value`,
    failed: `error in move for path: '${path}'`,
  });
}

function copy({ document, operation, path, work }: Step): Applied {
  const from = fieldOf(operation, "from");
  if (typeof from !== "string")
    return failure("bad-operation", "copy operation failed to decode from: operation, missing from field: missing value");
  const missing = `copy operation does not apply: doc is missing from path: ${from}: missing value`;
  const value = work.strict && from === "" ? ok(document) : valueAt(document, from, missing, () => `error in copy for from: '${from}'`);
  if (!value.ok) return value;
  if (work.strict && value.value === undefined) return failure("missing-path", missing);
  const text = JSON.stringify(value.value ?? null);
  work.copied += text.length;
  if (!work.strict && work.copied > MAX_COPIED) {
    const size = `the accumulated size increase of copy is ${work.copied}, exceeding the limit ${MAX_COPIED}`;
    return failure("bad-operation", `Unable to complete the copy, ${size}`);
  }
  // a deep copy: later operations change created parts in place
  return addAt({ document, path, work }, JSON.parse(text) as Json, {
    missing: `copy operation does not apply: doc is missing destination path: ${path}: missing value`,
    failed: "error while adding value during copy",
  });
}

function test({ document, operation, path, work: { strict } }: Step): Applied {
  const wanted = fieldOf(operation, "value") ?? null;
  const missing = `test operation does not apply: is missing path: ${path}: missing value`;
  const value = path === "" ? ok(document) : valueAt(document, path, missing, () => `error in test for path: '${path}'`);
  if (!value.ok) return value;
  const found = value.value ?? (strict ? undefined : null);
  return jsonEqual(found, wanted) ? ok(document) : failure("test-failed", `testing value ${path} failed: test failed`);
}

/** The value at a pointer; undefined if its last name is missing. */
function valueAt(document: Json, path: string, missing: string, failed: (name: string) => string): Result<Json | undefined, PatchError> {
  const names = parsePointer(path);
  const last = names?.at(-1);
  if (names === undefined || last === undefined) return failure("missing-path", missing);
  let at: Json | undefined = document;
  for (const name of names.slice(0, -1)) {
    const next: Result<Json | undefined, PatchError> = at === undefined ? ok(undefined) : child(at, name);
    at = next.ok ? next.value : undefined;
  }
  if (at === undefined || (!isObject(at) && !isList(at))) return failure("missing-path", missing);
  const found = child(at, last);
  return found.ok ? found : failure(found.error.kind, `${failed(last)}: ${found.error.message}`);
}

/** Changes the container of the pointer's last name, and adds the operation to error messages. */
function changeLast({ document, path, work }: Place, messages: Messages, change: (container: Json, name: string) => Applied): Applied {
  const names = parsePointer(path);
  const last = names?.at(-1);
  if (names === undefined || last === undefined) return failure("missing-path", messages.missing);
  let reached = false;
  const changed = changeAt(document, { path: names.slice(0, -1), parts: work.parts }, (container) => {
    reached = true;
    return change(container, last);
  });
  if (changed.ok) return changed;
  if (!reached) return failure("missing-path", messages.missing);
  const isOwn = messages.failed === "" || changed.error.kind === "too-much-work";
  return isOwn ? changed : failure(changed.error.kind, `${messages.failed}: ${changed.error.message}`);
}
