/** `== != < <= > >= in`, `!`, `size` and indexing. */
import { compare, equal } from "../equality.ts";
import { declare, metered, type Declarations, type Evaluate, type Row } from "../declarations.ts";
import { describeKey } from "../maps.ts";
import type { Meter } from "../meter.ts";
import { CelFailure, CelOptional, failure, isList, isMap, NO_SUCH_OVERLOAD, NONE, type CelList, type CelValue } from "../values.ts";

const ORDERED: readonly (readonly [string, string, string])[] = [
  ["bool", "bool", "bool"],
  ["int64", "int", "int"],
  ["int64_double", "int", "double"],
  ["int64_uint64", "int", "uint"],
  ["uint64", "uint", "uint"],
  ["uint64_double", "uint", "double"],
  ["uint64_int64", "uint", "int"],
  ["double", "double", "double"],
  ["double_int64", "double", "int"],
  ["double_uint64", "double", "uint"],
  ["string", "string", "string"],
  ["bytes", "bytes", "bytes"],
  ["timestamp", "timestamp", "timestamp"],
  ["duration", "duration", "duration"],
];

function order(name: string, operator: string, holds: (order: number) => boolean): readonly Row[] {
  const evaluate: Evaluate = (a = null, b = null) => {
    const result = compare(a, b);
    return result instanceof CelFailure ? result : holds(result);
  };
  return ORDERED.map(([id, left, right]): Row => [`${name}_${id}`, `${operator}(${left}, ${right}) -> bool`, evaluate]);
}

/** Undefined when the index or key does not exist. */
function lookUp(container: CelValue, key: CelValue): CelValue | undefined {
  if (isMap(container)) return container.get(key);
  if (!isList(container)) return NO_SUCH_OVERLOAD;
  const position = typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key;
  if (typeof position !== "bigint") return failure(`unsupported index type '${typeof key}' in list`);
  return position < 0n || position >= BigInt(container.size) ? undefined : container.get(Number(position));
}

function index(container: CelValue, key: CelValue): CelValue {
  const found = lookUp(container, key);
  if (found !== undefined) return found;
  return failure(isList(container) ? `index out of bounds: ${describeKey(key)}` : `no such key: ${describeKey(key)}`);
}

function optionalIndex(container: CelValue, key: CelValue): CelValue {
  const inner = container instanceof CelOptional ? container.value : container;
  if (inner === undefined) return NONE;
  const found = lookUp(inner, key);
  return found instanceof CelFailure ? found : new CelOptional(found);
}

function isIn(value: CelValue, container: CelValue, meter: Meter): CelValue {
  if (isMap(container)) {
    const found = container.get(value);
    return found instanceof CelFailure ? found : found !== undefined;
  }
  if (!isList(container)) return NO_SUCH_OVERLOAD;
  return containsItem(container, value, meter);
}

/** True as soon as it is found; a failed comparison counts only if it is not. */
export function containsItem(list: CelList, value: CelValue, meter: Meter): boolean | CelFailure {
  if (list.texts !== undefined && typeof value === "string") return list.texts.has(value);
  let problem: CelFailure | undefined;
  for (let at = 0; at < list.size; at++) {
    const same = equal(list.get(at), value, meter);
    if (same === true || (same instanceof CelFailure && same.fatal)) return same;
    if (same instanceof CelFailure) problem ??= same;
  }
  return problem ?? false;
}

function sizeOf(value: CelValue, meter: Meter): CelValue {
  if (typeof value === "string") return BigInt(meter.characters(value));
  if (value instanceof Uint8Array) return BigInt(value.length);
  return isList(value) || isMap(value) ? BigInt(value.size) : NO_SUCH_OVERLOAD;
}

export function comparison(): Declarations {
  const isEqual = metered((meter, a = null, b = null) => equal(a, b, meter));
  const isDifferent = metered((meter, a = null, b = null) => {
    const same = equal(a, b, meter);
    return same instanceof CelFailure ? same : !same;
  });
  const size = metered((meter, value = null) => sizeOf(value, meter));
  const at: Evaluate = (container = null, key = null) => index(container, key);
  const maybeAt: Evaluate = (container = null, key = null) => optionalIndex(container, key);
  const contains = metered((meter, value = null, container = null) => isIn(value, container, meter));
  return declare([
    ["equals", "_==_(A, A) -> bool", isEqual],
    ["not_equals", "_!=_(A, A) -> bool", isDifferent],
    ...order("less", "_<_", (result) => result < 0),
    ...order("less_equals", "_<=_", (result) => result <= 0),
    ...order("greater", "_>_", (result) => result > 0),
    ...order("greater_equals", "_>=_", (result) => result >= 0),
    ["logical_not", "!_(bool) -> bool", (value = null) => (typeof value === "boolean" ? !value : NO_SUCH_OVERLOAD)],
    ["in_list", "@in(A, list(A)) -> bool", contains],
    ["in_map", "@in(A, map(A, B)) -> bool", contains],
    ["index_list", "_[_](list(A), int) -> A", at],
    ["index_map", "_[_](map(A, B), A) -> B", at],
    ["list_optindex_optional_int", "_[?_](list(A), int) -> optional(A)", maybeAt],
    ["optional_list_optindex_optional_int", "_[?_](optional(list(A)), int) -> optional(A)", maybeAt],
    ["map_optindex_optional_value", "_[?_](map(A, B), A) -> optional(B)", maybeAt],
    ["optional_map_optindex_optional_value", "_[?_](optional(map(A, B)), A) -> optional(B)", maybeAt],
    ["optional_list_index_int", "_[_](optional(list(A)), int) -> optional(A)", maybeAt],
    ["optional_map_index_value", "_[_](optional(map(A, B)), A) -> optional(B)", maybeAt],
    ["size_bytes", "size(bytes) -> int", size],
    ["bytes_size", "<bytes> size() -> int", size],
    ["size_list", "size(list(A)) -> int", size],
    ["list_size", "<list(A)> size() -> int", size],
    ["size_map", "size(map(A, B)) -> int", size],
    ["map_size", "<map(A, B)> size() -> int", size],
    ["size_string", "size(string) -> int", size],
    ["string_size", "<string> size() -> int", size],
    // Evaluated by the evaluator itself, which does not always evaluate every operand.
    ["conditional", "_?_:_(bool, A, A) -> A", () => NO_SUCH_OVERLOAD],
    ["logical_and", "_&&_(bool, bool) -> bool", () => NO_SUCH_OVERLOAD],
    ["logical_or", "_||_(bool, bool) -> bool", () => NO_SUCH_OVERLOAD],
    ["not_strictly_false", "@not_strictly_false(bool) -> bool", () => NO_SUCH_OVERLOAD],
  ]);
}
