/**
 * `$setElementOrder/name`: merges the named list and sorts the elements into that order.
 *
 * The directive must agree with the list in the patch: every element that the patch sets is in it, in the same relative order.
 */
import { ok, type Result } from "#base";
import { badElementOrder, failure, wrongType, type PatchError } from "../errors.ts";
import { formatValue } from "../go-values.ts";
import { fieldOf, isList, isObject, jsonEqual, setField, type Json, type JsonObject, type MutableObject } from "../json.ts";
import type { FieldMerge, PatchSchema } from "../schema/port.ts";
import { asNewValue, listNamedBy, PATCH, SET_ELEMENT_ORDER } from "./directives.ts";
import { orderElements } from "./element-order.ts";
import { asList, elementsOf, sameKey } from "./elements.ts";
import { orderByListType } from "./list-types.ts";
import { mergeListsAsDeclared, type MergedList } from "./merge-list.ts";
import type { MergeMode } from "./merge-object.ts";

/** Merges all ordered lists into `result`; returns the fields of the patch that are done. */
export function applyElementOrders(
  result: MutableObject,
  patch: JsonObject,
  schema: PatchSchema,
  mode: MergeMode,
): Result<ReadonlySet<string>, PatchError> {
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    const order = patch[key];
    if (order === undefined || !key.startsWith(SET_ELEMENT_ORDER)) continue;
    done.add(key);
    if (mode.target === "patch") {
      const before = fieldOf(result, key);
      if (before !== undefined && !jsonEqual(before, order)) return badElementOrder();
      setField(result, key, order);
    }
    const applied = applyElementOrder({ result, patch, schema, mode }, key, order);
    if (!applied.ok) return applied;
    if (applied.value !== undefined) done.add(applied.value);
  }
  return ok(done);
}

type Context = {
  readonly result: MutableObject;
  readonly patch: JsonObject;
  readonly schema: PatchSchema;
  readonly mode: MergeMode;
};

/** Returns the name of the list when it was merged here. */
function applyElementOrder(context: Context, key: string, order: Json): Result<string | undefined, PatchError> {
  if (!isList(order)) return wrongType("list", order);
  const named = listNamedBy(key, SET_ELEMENT_ORDER, badElementOrder);
  if (!named.ok) return named;
  const name = named.value;
  const original = asList(fieldOf(context.result, name));
  if (!original.ok) return original;
  const patched = asList(fieldOf(context.patch, name));
  if (!patched.ok) return patched;
  const field = context.schema.listField(name);
  if (!field.ok) return field;
  const valid = checkAgainstOrder(patched.value ?? [], order, mergeKeyFor(field.value, context.mode));
  if (!valid.ok) return valid;
  if (original.value === undefined && patched.value === undefined) return ok(undefined);
  const list = mergeInto(original.value, patched.value, field.value, context.mode);
  if (!list.ok) return list;
  if (context.mode.lists === "list-types") {
    setField(context.result, name, orderByListType(list.value.merged, order, field.value));
    return ok(name);
  }
  const elements = elementsOf(original.value ?? [], patched.value ?? []);
  if (!elements.ok) return elements;
  const { merged, backing } = list.value;
  const ordered = orderElements(merged, {
    elements: elements.value,
    mergeKey: field.value.mergeKey,
    patchOrder: order,
    serverOrder: backing,
  });
  if (!ordered.ok) return ordered;
  setField(context.result, name, ordered.value);
  return ok(name);
}

/** With list types there can be several keys; the order is then not checked. */
function mergeKeyFor(field: FieldMerge, mode: MergeMode): string {
  return mode.lists === "list-types" ? (field.listMapKeys?.[0] ?? "") : field.mergeKey;
}

function mergeInto(
  original: readonly Json[] | undefined,
  patched: readonly Json[] | undefined,
  field: FieldMerge,
  mode: MergeMode,
): Result<MergedList, PatchError> {
  if (patched === undefined) return ok({ merged: original ?? [], backing: original ?? [] });
  if (original === undefined) return ok({ merged: asNewValue(patched, "keep") as readonly Json[], backing: [] });
  return mergeListsAsDeclared(original, patched, field, mode);
}

/** Each element of the patch must be in the order, after the previous element. */
function checkAgainstOrder(patched: readonly Json[], order: readonly Json[], mergeKey: string): Result<undefined, PatchError> {
  if (order.length === 0 || patched.length === 0) return ok(undefined);
  if (mergeKey !== "") for (const item of patched) if (!isObject(item)) return wrongType("map", item);
  const wanted = patched.filter((item) => !isObject(item) || fieldOf(item, PATCH) !== "delete");
  let next = 0;
  for (let place = 0; next < wanted.length && place < order.length;) {
    const item = wanted[next] as Json;
    if (isObject(item) && fieldOf(item, PATCH) !== undefined) {
      next++;
      continue;
    }
    const other = order[place] as Json;
    const same = mergeKey === "" ? ok(item === other) : sameKey(item, other, mergeKey);
    if (!same.ok) return same;
    if (same.value) next++;
    place++;
    if (place === order.length && next < wanted.length) return orderMismatch(patched, order);
  }
  return ok(undefined);
}

function orderMismatch(patched: readonly Json[], order: readonly Json[]): Result<never, PatchError> {
  const lists = `The order in patch list:\n${formatValue(patched)}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${formatValue(order)}\n`;
  return failure("order-mismatch", lists);
}
