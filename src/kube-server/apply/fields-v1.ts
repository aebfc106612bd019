/**
 * Field sets as `fieldsV1` of a managedFields entry: each step is a key, `.` says that the node itself is a member, a leaf is `{}`.
 *
 * The keys come in the order in which a real server writes them, so that the JSON text of both is the same.
 */
import { err, memoizeByObject, ok, type Result } from "#base";
import { isJsonObject, MAX_DEPTH, type Json, type JsonObject } from "#kube";
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import { parsePathElement, sortElements, type PathElement } from "./path-element.ts";

/** Every step of an object is one level here, and an object is at most MAX_DEPTH deep. */
const MAX_STEPS = 2 * MAX_DEPTH;

/**
 * Caches of field sets by `fieldsV1` and back: most writes do not change most managers, so their fields need not be parsed and serialized
 * again. One `fieldsV1` is shared by many objects, so it is frozen: the cache stays valid.
 */
const setsByJson = new WeakMap<JsonObject, FieldSet>();

export const encodeFields = memoizeByObject((set: FieldSet): JsonObject => {
  const json = writeFields(set, false);
  setsByJson.set(json, set);
  return json;
});

/** Created here, and frozen: no copies are needed. */
export function isSharedFields(json: object): boolean {
  return setsByJson.has(json as JsonObject);
}

export function decodeFields(json: unknown): Result<FieldSet, string> {
  if (json === undefined || json === null) return ok(EMPTY_SET);
  const known = isJsonObject(json) ? setsByJson.get(json) : undefined;
  return known === undefined ? readFields(json, 0) : ok(known);
}

const NO_FIELDS: JsonObject = Object.freeze({});

function writeFields(set: FieldSet, self: boolean): JsonObject {
  const fields: { [element: string]: Json } = self ? { ".": NO_FIELDS } : {};
  for (const element of sortElements(set.keys())) {
    const node = set.get(element);
    fields[element] = node?.children === undefined ? NO_FIELDS : writeFields(node.children, node.member);
  }
  return Object.freeze(fields);
}

function readFields(json: unknown, depth: number): Result<FieldSet, string> {
  if (depth > MAX_STEPS) return err(`nested deeper than ${MAX_STEPS} levels`);
  if (!isJsonObject(json)) return err("expected an object of fields");
  const set = new Map<PathElement, FieldNode>();
  for (const [key, below] of Object.entries(json)) {
    if (key === ".") continue;
    const element = parsePathElement(key);
    if (!element.ok) return element;
    if (element.value === undefined) continue; // possibly of a later version
    const children = below === null ? ok(EMPTY_SET) : readFields(below, depth + 1);
    if (!children.ok) return children;
    set.set(element.value, nodeOf(children.value, below));
  }
  return ok(set);
}

function nodeOf(children: FieldSet, json: unknown): FieldNode {
  if (children.size === 0) return { member: true, children: undefined };
  return { member: isJsonObject(json) && Object.hasOwn(json, "."), children };
}
