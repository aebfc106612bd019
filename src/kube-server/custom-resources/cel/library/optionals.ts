/** Optional values, and what the two-variable macros need to build maps. */
import { declare, type Declarations, type Evaluate } from "../declarations.ts";
import { describeKey, entriesOf, mapOf } from "../maps.ts";
import {
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelUint,
  failure,
  isList,
  isMap,
  itemsOf,
  listOf,
  NO_SUCH_OVERLOAD,
  NONE,
  type CelValue,
} from "../values.ts";

function onOptional(run: (optional: CelOptional, other: CelValue) => CelValue): Evaluate {
  return (optional = null, other = null) => (optional instanceof CelOptional ? run(optional, other) : NO_SUCH_OVERLOAD);
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return value.instant.seconds === -62_135_596_800n && value.instant.nanos === 0;
  return value instanceof Uint8Array ? value.length === 0 : (isList(value) || isMap(value)) && value.size === 0;
}

function unwrap(list: CelValue): CelValue {
  if (!isList(list)) return NO_SUCH_OVERLOAD;
  return listOf(itemsOf(list).flatMap((item) => (item instanceof CelOptional && item.value !== undefined ? [item.value] : [])));
}

function end(list: CelValue, at: number): CelValue {
  return isList(list) ? new CelOptional(itemsOf(list).at(at)) : NO_SUCH_OVERLOAD;
}

function insert(map: CelValue, added: readonly (readonly [CelValue, CelValue])[]): CelValue {
  if (!isMap(map)) return NO_SUCH_OVERLOAD;
  const repeated = added.find(([key]) => map.get(key) !== undefined);
  return repeated === undefined
    ? mapOf([...entriesOf(map), ...added])
    : failure(`insert failed: key ${describeKey(repeated[0])} already exists`);
}

export function optionals(): Declarations {
  return declare([
    ["optional_of", "optional.of(V) -> optional(V)", (value = null) => new CelOptional(value)],
    [
      "optional_ofNonZeroValue",
      "optional.ofNonZeroValue(V) -> optional(V)",
      (value = null) => (isZero(value) ? NONE : new CelOptional(value)),
    ],
    ["optional_none", "optional.none() -> optional(V)", () => NONE],
    [
      "optional_value",
      "<optional(V)> value() -> V",
      onOptional((optional) => (optional.value === undefined ? failure("optional.none() dereference") : optional.value)),
    ],
    ["optional_hasValue", "<optional(V)> hasValue() -> bool", onOptional((optional) => optional.value !== undefined)],
    [
      "optional_or_optional",
      "<optional(V)> or(optional(V)) -> optional(V)",
      onOptional((optional, other) => (optional.value === undefined ? other : optional)),
    ],
    [
      "optional_orValue_value",
      "<optional(V)> orValue(V) -> V",
      onOptional((optional, other) => (optional.value === undefined ? other : optional.value)),
    ],
    ["list_first", "<list(V)> first() -> optional(V)", (list = null) => end(list, 0)],
    ["list_last", "<list(V)> last() -> optional(V)", (list = null) => end(list, -1)],
    ["optional_unwrap", "optional.unwrap(list(optional(V))) -> list(V)", (list = null) => unwrap(list)],
    ["optional_unwrapOpt", "<list(optional(V))> unwrapOpt() -> list(V)", (list = null) => unwrap(list)],
    [
      "@mapInsert_map_map",
      "cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)",
      (map = null, other = null) => (isMap(other) ? insert(map, entriesOf(other)) : NO_SUCH_OVERLOAD),
    ],
    [
      "@mapInsert_map_key_value",
      "cel.@mapInsert(map(K, V), K, V) -> map(K, V)",
      (map = null, key = null, value = null) => insert(map, [[key, value]]),
    ],
  ]);
}
