/** Lists: Kubernetes' own functions, the extension library (version 3), and sets. */
import { compare, equal } from "../equality.ts";
import { declare, type Declarations, type Evaluate, type Row } from "../declarations.ts";
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

function sum(list: CelList, zero: CelValue): CelValue {
  let total = zero;
  for (const item of itemsOf(list)) {
    total = add(total, item);
    if (total instanceof CelFailure) return total;
  }
  return total;
}

function position(list: CelList, wanted: CelValue, from: "start" | "end"): CelValue {
  const items = itemsOf(list);
  const found =
    from === "start"
      ? items.findIndex((item) => equal(item, wanted) === true)
      : items.findLastIndex((item) => equal(item, wanted) === true);
  return BigInt(found);
}

function slice(list: CelList, start: CelValue, end: CelValue): CelValue {
  if (typeof start !== "bigint" || typeof end !== "bigint") return NO_SUCH_OVERLOAD;
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) return failure(`${call}, negative indexes not supported`);
  if (start > end) return failure(`${call}, start index must be less than or equal to end index`);
  if (BigInt(list.size) < end) return failure(`${call}, list is length ${list.size}`);
  return listOf(itemsOf(list).slice(Number(start), Number(end)));
}

function flatten(items: readonly CelValue[], depth: number): readonly CelValue[] {
  return depth < 0 ? items : items.flatMap((item) => (isList(item) && depth > 0 ? flatten(itemsOf(item), depth - 1) : [item]));
}

function flattenTo(list: CelList, depth: CelValue): CelValue {
  if (typeof depth !== "bigint") return NO_SUCH_OVERLOAD;
  return depth < 0n ? failure("level must be non-negative") : listOf(flatten(itemsOf(list), Number(depth)));
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

function distinct(list: CelList): CelValue {
  const unique: CelValue[] = [];
  for (const item of itemsOf(list)) if (!unique.some((known) => equal(item, known) === true)) unique.push(item);
  return listOf(unique);
}

const MAX_RANGE = 1_000_000n;

function range(count: CelValue): CelValue {
  if (typeof count !== "bigint") return NO_SUCH_OVERLOAD;
  if (count > MAX_RANGE) return new CelFailure("operation cancelled: actual cost limit exceeded", true);
  return listOf(Array.from({ length: Math.max(0, Number(count)) }, (_, at) => BigInt(at)));
}

function has(list: CelList, wanted: CelValue): CelValue {
  let problem: CelFailure | undefined;
  for (const item of itemsOf(list)) {
    const same = equal(item, wanted);
    if (same === true) return true;
    if (same instanceof CelFailure) problem ??= same;
  }
  return problem ?? false;
}

function containsAll(list: CelValue, part: CelValue): CelValue {
  if (!isList(list) || !isList(part)) return NO_SUCH_OVERLOAD;
  for (const item of itemsOf(part)) {
    const found = has(list, item);
    if (found !== true) return found;
  }
  return true;
}

function intersects(a: CelValue, b: CelValue): CelValue {
  return isList(a) && isList(b) ? itemsOf(a).some((item) => has(b, item) === true) : NO_SUCH_OVERLOAD;
}

function equivalent(a: CelValue, b: CelValue): CelValue {
  const forth = containsAll(a, b);
  return forth === true ? containsAll(b, a) : forth;
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
    onList((list) => sum(list, zero)),
  ]);
  return declare([
    ...typed,
    ...sums,
    ["list_a_index_of_int", "<list(A)> indexOf(A) -> int", onList((list, item = null) => position(list, item, "start"))],
    ["list_a_last_index_of_int", "<list(A)> lastIndexOf(A) -> int", onList((list, item = null) => position(list, item, "end"))],
    ["list_slice", "<list(T)> slice(int, int) -> list(T)", onList((list, start = null, end = null) => slice(list, start, end))],
    ["list_flatten", "<list(list(T))> flatten() -> list(T)", onList((list) => flattenTo(list, 1n))],
    ["list_flatten_int", "<list(dyn)> flatten(int) -> list(dyn)", onList((list, depth = null) => flattenTo(list, depth))],
    ["lists_range", "lists.range(int) -> list(int)", (count = null) => range(count)],
    ["list_reverse", "<list(T)> reverse() -> list(T)", onList((list) => listOf(itemsOf(list).toReversed()))],
    ["list_distinct", "<list(T)> distinct() -> list(T)", onList(distinct)],
    ["list_sets_contains_list", "sets.contains(list(T), list(T)) -> bool", (a = null, b = null) => containsAll(a, b)],
    ["list_sets_equivalent_list", "sets.equivalent(list(T), list(T)) -> bool", (a = null, b = null) => equivalent(a, b)],
    ["list_sets_intersects_list", "sets.intersects(list(T), list(T)) -> bool", (a = null, b = null) => intersects(a, b)],
  ]);
}
