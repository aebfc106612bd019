/** Lists: Kubernetes' own functions, the extension library (version 3), and sets. */
import { compare, equalOrNot } from "../equality.ts";
import { declare, metered, type Declarations, type Evaluate, type Metered, type Row } from "../declarations.ts";
import type { Meter } from "../meter.ts";
import { tooManyItems } from "../size-limits.ts";
import {
  CelDuration,
  CelFailure,
  CelUint,
  failure,
  isList,
  itemsOf,
  listOf,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelValue,
} from "../values.ts";
import { typeName } from "../value-types.ts";
import { add } from "./arithmetic.ts";
import { containsItem } from "./comparison.ts";

const COMPARABLE = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const SUMMABLE: readonly (readonly [type: string, zero: CelValue])[] = [
  ["int", 0n],
  ["uint", new CelUint(0n)],
  ["double", 0],
  ["duration", new CelDuration(0n)],
];

function onList(run: (list: CelList, ...rest: readonly CelValue[]) => CelValue): Evaluate {
  return (list = null, ...rest) => (isList(list) ? run(list, ...rest) : NO_SUCH_OVERLOAD);
}

function onMeteredList(run: (meter: Meter, list: CelList, ...rest: readonly CelValue[]) => CelValue): Metered {
  return metered((meter, list = null, ...rest) => (isList(list) ? run(meter, list, ...rest) : NO_SUCH_OVERLOAD));
}

function isSorted(list: CelList): CelValue {
  const items = itemsOf(list);
  for (const [at, item] of items.entries()) {
    const order = at === 0 ? 0 : compare(items[at - 1] ?? null, item);
    if (order instanceof CelFailure) return order;
    if (order > 0) return false;
  }
  return true;
}

function extreme(list: CelList, name: "min" | "max"): CelValue {
  let best: CelValue | undefined;
  for (const item of itemsOf(list)) {
    const order = best === undefined ? 0 : compare(best, item);
    if (order instanceof CelFailure) return order;
    if (best === undefined || (name === "min" ? order > 0 : order < 0)) best = item;
  }
  return best ?? failure(`${name} called on empty list`);
}

function sum(list: CelList, zero: CelValue, meter: Meter): CelValue {
  let total = zero;
  for (const item of itemsOf(list)) {
    total = add(total, item, meter);
    if (total instanceof CelFailure) return total;
  }
  return total;
}

function position(list: CelList, wanted: CelValue, meter: Meter): CelValue {
  for (let at = 0; at < list.size; at++) {
    const same = equalOrNot(list.get(at), wanted, meter);
    if (same !== false) return same === true ? BigInt(at) : same;
  }
  return -1n;
}

function lastPosition(list: CelList, wanted: CelValue, meter: Meter): CelValue {
  for (let at = list.size - 1; at >= 0; at--) {
    const same = equalOrNot(list.get(at), wanted, meter);
    if (same !== false) return same === true ? BigInt(at) : same;
  }
  return -1n;
}

function slice(list: CelList, start: CelValue, end: CelValue): CelValue {
  if (typeof start !== "bigint" || typeof end !== "bigint") return NO_SUCH_OVERLOAD;
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) return failure(`${call}, negative indexes not supported`);
  if (start > end) return failure(`${call}, start index must be less than or equal to end index`);
  if (BigInt(list.size) < end) return failure(`${call}, list is length ${list.size}`);
  return listOf(Array.from({ length: Number(end - start) }, (_, at) => list.get(Number(start) + at)));
}

/** The cost in Kubernetes is that of the outer list only. */
function flattenInto(made: CelValue[], list: CelList, levels: { readonly depth: number; readonly meter: Meter }): CelFailure | undefined {
  const { depth, meter } = levels;
  const spent = meter.work(list.size);
  if (spent !== undefined) return spent;
  for (const item of itemsOf(list)) {
    if (!isList(item) || depth <= 0) made.push(item);
    const failed =
      isList(item) && depth > 0 ? meter.nested(1, () => flattenInto(made, item, { depth: depth - 1, meter })) : tooManyItems(made.length);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

function flattenTo(meter: Meter, list: CelList, depth: CelValue): CelValue {
  if (typeof depth !== "bigint") return NO_SUCH_OVERLOAD;
  if (depth < 0n) return failure("level must be non-negative");
  const made: CelValue[] = [];
  return flattenInto(made, list, { depth: Number(depth), meter }) ?? listOf(made);
}

function sortBy(list: CelList, keyList: CelValue): CelValue {
  if (!isList(keyList)) return NO_SUCH_OVERLOAD;
  const keys = itemsOf(keyList);
  if (new Set(keys.map(typeName)).size > 1) return failure("list elements must have the same type");
  const order = (a: number, b: number): number => Number(compare(keys[a] ?? null, keys[b] ?? null));
  if (keys[0] !== undefined && compare(keys[0], keys[0]) instanceof CelFailure) return failure("list elements must be comparable");
  return listOf(
    keys
      .map((_, at) => at)
      .toSorted(order)
      .map((at) => list.get(at)),
  );
}

function distinct(meter: Meter, list: CelList): CelValue {
  const unique: CelValue[] = [];
  for (const item of itemsOf(list)) {
    const known = position(listOf(unique), item, meter);
    if (known instanceof CelFailure) return known;
    if (known === -1n) unique.push(item);
  }
  return listOf(unique);
}

/** Its cost keeps it below the limit for the size of a list. */
function range(count: CelValue): CelValue {
  if (typeof count !== "bigint") return NO_SUCH_OVERLOAD;
  return tooManyItems(Number(count)) ?? listOf(Array.from({ length: Math.max(0, Number(count)) }, (_, at) => BigInt(at)));
}

function containsAll(meter: Meter, list: CelValue, part: CelValue): CelValue {
  if (!isList(list) || !isList(part)) return NO_SUCH_OVERLOAD;
  for (const item of itemsOf(part)) {
    const found = containsItem(list, item, meter);
    if (found !== true) return found;
  }
  return true;
}

function intersects(meter: Meter, a: CelValue, b: CelValue): CelValue {
  if (!isList(a) || !isList(b)) return NO_SUCH_OVERLOAD;
  for (const item of itemsOf(a)) {
    const found = containsItem(b, item, meter);
    if (found === true || (found instanceof CelFailure && found.fatal)) return found;
  }
  return false;
}

function equivalent(meter: Meter, a: CelValue, b: CelValue): CelValue {
  const forth = containsAll(meter, a, b);
  return forth === true ? containsAll(meter, b, a) : forth;
}

export function lists(): Declarations {
  const typed = COMPARABLE.flatMap((type): Row[] => [
    [`list_${type}_is_sorted_bool`, `<list(${type})> isSorted() -> bool`, onList(isSorted)],
    [`list_${type}_max_${type}`, `<list(${type})> max() -> ${type}`, onList((list) => extreme(list, "max"))],
    [`list_${type}_min_${type}`, `<list(${type})> min() -> ${type}`, onList((list) => extreme(list, "min"))],
    [`list_${type}_sort`, `<list(${type})> sort() -> list(${type})`, onList((list) => sortBy(list, list))],
    [
      `list_${type}_sortByAssociatedKeys`,
      `<list(T)> @sortByAssociatedKeys(list(${type})) -> list(T)`,
      onList((list, keys = null) => sortBy(list, keys)),
    ],
  ]);
  const sums = SUMMABLE.map(([type, zero]): Row => [
    `list_${type}_sum_${type}`,
    `<list(${type})> sum() -> ${type}`,
    onMeteredList((meter, list) => sum(list, zero, meter)),
  ]);
  return declare([
    ...typed,
    ...sums,
    ["list_a_index_of_int", "<list(A)> indexOf(A) -> int", onMeteredList((meter, list, item = null) => position(list, item, meter))],
    [
      "list_a_last_index_of_int",
      "<list(A)> lastIndexOf(A) -> int",
      onMeteredList((meter, list, item = null) => lastPosition(list, item, meter)),
    ],
    ["list_slice", "<list(T)> slice(int, int) -> list(T)", onList((list, start = null, end = null) => slice(list, start, end))],
    ["list_flatten", "<list(list(T))> flatten() -> list(T)", onMeteredList((meter, list) => flattenTo(meter, list, 1n))],
    [
      "list_flatten_int",
      "<list(dyn)> flatten(int) -> list(dyn)",
      onMeteredList((meter, list, depth = null) => flattenTo(meter, list, depth)),
    ],
    ["lists_range", "lists.range(int) -> list(int)", (count = null) => range(count)],
    ["list_reverse", "<list(T)> reverse() -> list(T)", onList((list) => listOf(itemsOf(list).toReversed()))],
    ["list_distinct", "<list(T)> distinct() -> list(T)", onMeteredList(distinct)],
    [
      "list_sets_contains_list",
      "sets.contains(list(T), list(T)) -> bool",
      metered((meter, a = null, b = null) => containsAll(meter, a, b)),
    ],
    [
      "list_sets_equivalent_list",
      "sets.equivalent(list(T), list(T)) -> bool",
      metered((meter, a = null, b = null) => equivalent(meter, a, b)),
    ],
    [
      "list_sets_intersects_list",
      "sets.intersects(list(T), list(T)) -> bool",
      metered((meter, a = null, b = null) => intersects(meter, a, b)),
    ],
  ]);
}
