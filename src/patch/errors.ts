/**
 * All errors of patches. Code decides by `kind`; `message` is exactly that of Kubernetes' own library, because users search
 * for it.
 */
import { err, type Err } from "#base";
import { formatAsString, formatValue, goTypeName } from "./go-values.ts";
import { MAX_DEPTH, type Json, type JsonObject } from "./json.ts";

/** The kind of a patch error. */
export type PatchErrorKind =
  /** Text that is not JSON, or a document that is not an object. */
  | "bad-json"
  /** `$patch` has an unknown value. */
  | "bad-directive"
  | "no-merge-key"
  /** The list in the patch contradicts its `$setElementOrder`. */
  | "order-mismatch"
  | "bad-element-order"
  | "bad-retain-keys"
  | "bad-primitive-list"
  | "list-of-lists"
  /** Elements of one list have different types, or the list is empty and the type unknown. */
  | "bad-elements"
  /** A value has another type than the directive or the schema requires. */
  | "bad-type"
  | "unknown-field"
  /** The schema itself cannot be used: a merge list without a key, an unknown strategy. */
  | "bad-schema"
  /** The same field was changed differently by another writer. */
  | "conflict"
  | "precondition-failed"
  | "too-deep"
  /** JSON Patch: an operation failed; `test-failed`: the operation `test` found another value. */
  | "bad-operation"
  | "missing-path"
  | "test-failed"
  | "too-many-operations"
  /** JSON Patch: all operations together shift more list items than one patch may. */
  | "too-much-work";

/** Why a patch could not be created or applied: decide by `kind`, show `message`. */
export type PatchError = { readonly kind: PatchErrorKind; readonly message: string };

export function failure(kind: PatchErrorKind, message: string): Err<PatchError> {
  return err({ kind, message });
}

/**
 * The HTTP status of kube-apiserver for this error. Most errors in a strategic patch are a 500.
 *
 * @example httpStatusOf({ kind: "no-merge-key", message: "…" }) // 500
 */
export function httpStatusOf(error: PatchError): 400 | 413 | 422 | 500 {
  switch (error.kind) {
    case "bad-json":
    case "bad-element-order":
    case "bad-retain-keys":
    case "bad-primitive-list":
    case "too-deep":
      return 400;
    case "list-of-lists":
    case "bad-operation":
    case "missing-path":
    case "test-failed":
      return 422;
    case "too-many-operations":
    case "too-much-work":
      return 413;
    case "bad-directive":
    case "no-merge-key":
    case "order-mismatch":
    case "bad-elements":
    case "bad-type":
    case "unknown-field":
    case "bad-schema":
    case "conflict":
    case "precondition-failed":
      return 500;
  }
}

export const badJson = () => failure("bad-json", "invalid JSON document");
export const badPrimitiveList = () => failure("bad-primitive-list", "invalid patch format of primitive list");
export const badRetainKeys = () => failure("bad-retain-keys", "invalid patch format of retainKeys");
export const badElementOrder = () => failure("bad-element-order", "invalid patch format of setElementOrder list");
export const listOfLists = () => failure("list-of-lists", "lists of lists are not supported");
export const tooDeep = () => failure("too-deep", `nested deeper than ${MAX_DEPTH} levels`);

export function badDirective(directive: Json, patch: JsonObject): Err<PatchError> {
  return failure("bad-directive", `unknown patch type: ${formatAsString(directive)} in map: ${formatValue(patch)}`);
}

export function noMergeKey(item: JsonObject, mergeKey: string): Err<PatchError> {
  return failure("no-merge-key", `map: ${formatValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export function wrongType(expected: "map" | "list", received: unknown): Err<PatchError> {
  const wanted = expected === "map" ? "map[string]interface {}" : "[]interface {}";
  return failure("bad-type", `expected a ${wanted}, but received a ${goTypeName(received)}`);
}

/** Go panics here; an API server recovers and returns 500. */
export function notComparable(value: unknown): Err<PatchError> {
  return failure("bad-type", `a merge key must be a scalar, not ${formatValue(value)}`);
}
