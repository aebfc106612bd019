/** Optional values, and the functions with which the two-variable macros build maps. */
import { GrowingMap } from "../accumulators.ts";
import { declare, metered, type Declarations, type Evaluate } from "../declarations.ts";
import { describeKey, entriesOf, type Entry } from "../maps.ts";
import type { Meter } from "../meter.ts";
import {
  CelDuration,
  CelFailure,
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

/** The cost in Kubernetes is one for a list of any length. */
function unwrap(meter: Meter, list: CelValue): CelValue {
  if (!isList(list)) return NO_SUCH_OVERLOAD;
  const spent = meter.work(list.size * 4);
  if (spent !== undefined) return spent;
  return listOf(itemsOf(list).flatMap((item) => (item instanceof CelOptional && item.value !== undefined ? [item.value] : [])));
}

function first(list: CelValue): CelValue {
  return isList(list) ? new CelOptional(list.size === 0 ? undefined : list.get(0)) : NO_SUCH_OVERLOAD;
}

function last(list: CelValue): CelValue {
  return isList(list) ? new CelOptional(list.size === 0 ? undefined : list.get(list.size - 1)) : NO_SUCH_OVERLOAD;
}

/** Only macros call it, on the map that they build. */
function insert(map: CelValue, added: readonly Entry[]): CelValue {
  if (!(map instanceof GrowingMap)) return NO_SUCH_OVERLOAD;
  for (const entry of added) {
    const [key] = entry;
    const inserted = map.get(key) === undefined ? map.insert(entry) : failure(`insert failed: key ${describeKey(key)} already exists`);
    if (inserted instanceof CelFailure) return inserted;
  }
  return map;
}

/** The cost in Kubernetes is one for a second map of any size. */
function insertAll(meter: Meter, map: CelValue, other: CelValue): CelValue {
  return isMap(other) ? (meter.work(other.size * 10) ?? insert(map, entriesOf(other))) : NO_SUCH_OVERLOAD;
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
    ["list_first", "<list(V)> first() -> optional(V)", (list = null) => first(list)],
    ["list_last", "<list(V)> last() -> optional(V)", (list = null) => last(list)],
    ["optional_unwrap", "optional.unwrap(list(optional(V))) -> list(V)", metered((meter, list = null) => unwrap(meter, list))],
    ["optional_unwrapOpt", "<list(optional(V))> unwrapOpt() -> list(V)", metered((meter, list = null) => unwrap(meter, list))],
    [
      "@mapInsert_map_map",
      "cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)",
      metered((meter, map = null, other = null) => insertAll(meter, map, other)),
    ],
    [
      "@mapInsert_map_key_value",
      "cel.@mapInsert(map(K, V), K, V) -> map(K, V)",
      (map = null, key = null, value = null) => insert(map, [[key, value]]),
    ],
  ]);
}
