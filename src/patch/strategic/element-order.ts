/**
 * The order of merged elements. Elements of the patch keep the patch's order, elements that only the server has keep theirs, and the two
 * are interleaved by the server's order if it contains both. New elements are not in the server's order, so they come first.
 */
import { ok, type Result } from "#base";
import type { PatchError } from "../errors.ts";
import { goSortStable } from "../go-sort.ts";
import type { Json } from "../json.ts";
import { splitDeletions } from "./directives.ts";
import { checkMergeKeys, firstPositions, identityBy, sameKey, type Elements } from "./elements.ts";

export type ElementOrder = {
  readonly elements: Elements;
  readonly mergeKey: string;
  /** The elements of the patch; all others are only on the server. */
  readonly patchOrder: readonly Json[];
  readonly serverOrder: readonly Json[];
};

export function orderElements(merged: readonly Json[], order: ElementOrder): Result<Json[], PatchError> {
  const parts = partition(merged, order.patchOrder, order.mergeKey);
  if (!parts.ok) return parts;
  const fromPatch = sortLike(parts.value.fromPatch, order.patchOrder, order);
  if (!fromPatch.ok) return fromPatch;
  const serverOnly = sortLike(parts.value.serverOnly, order.serverOrder, order);
  if (!serverOnly.ok) return serverOnly;
  return ok(interleave(serverOnly.value, fromPatch.value, order));
}

function partition(merged: readonly Json[], patchOrder: readonly Json[], mergeKey: string) {
  if (mergeKey !== "") {
    const keyed = checkMergeKeys(merged, mergeKey);
    if (!keyed.ok) return keyed;
  }
  const identity = identityBy(mergeKey);
  const named = new Set(patchOrder.map(identity));
  const fromPatch: Json[] = [];
  const serverOnly: Json[] = [];
  for (const item of merged) (named.has(identity(item)) ? fromPatch : serverOnly).push(item);
  return ok({ fromPatch, serverOnly });
}

/** Sorts `items` into the order of `like`; elements marked for deletion come last. */
export function sortLike(
  items: readonly Json[],
  like: readonly Json[],
  { elements, mergeKey }: Pick<ElementOrder, "elements" | "mergeKey">,
): Result<Json[], PatchError> {
  if (elements === "scalars") return ok(sortByPosition([...items], like, (item) => item));
  const keyed = checkMergeKeys(items, mergeKey);
  if (!keyed.ok) return keyed;
  const order = checkMergeKeys(like, mergeKey);
  if (!order.ok) return order;
  const { kept, deletions } = splitDeletions(keyed.value);
  return ok([...sortByPosition<Json>(kept, like, identityBy(mergeKey)), ...deletions]);
}

function sortByPosition<T extends Json>(items: T[], like: readonly Json[], identity: (item: Json) => Json | undefined): T[] {
  if (items.length < 2) return items;
  const positions = firstPositions(like, identity);
  const placed = items.map((item) => ({ item, position: positions.get(identity(item) ?? null) }));
  // An element without a position counts as smaller than every other, and every other as smaller than it.
  goSortStable(placed, (a, b) => a.position === undefined || b.position === undefined || a.position < b.position);
  return placed.map(({ item }) => item);
}

function interleave(serverOnly: readonly Json[], fromPatch: readonly Json[], order: ElementOrder): Json[] {
  if (serverOnly.length === 0) return [...fromPatch];
  const identity = identityBy(order.elements === "objects" ? order.mergeKey : "");
  const positions = firstPositions(order.serverOrder, identity);
  const placeOf = (item: Json): number | undefined => positions.get(identity(item) ?? null);
  const all: Json[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const place = placeOf(item);
    for (; next < serverOnly.length && place !== undefined; next++) {
      const candidate = serverOnly[next] as Json;
      const before = placeOf(candidate);
      if (before === undefined || before >= place) break;
      all.push(candidate);
    }
    all.push(item);
  }
  return [...all, ...serverOnly.slice(next)];
}

/** Whether the two lists name the same elements in the same order. */
export function isSameOrder(original: readonly Json[], modified: readonly Json[], mergeKey: string): Result<boolean, PatchError> {
  if (original.length !== modified.length) return ok(false);
  for (const [index, item] of modified.entries()) {
    const same = sameKey(original[index] as Json, item, mergeKey);
    if (!same.ok || !same.value) return same;
  }
  return ok(true);
}
