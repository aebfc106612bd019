/** `+ - * / %` and their limits: an integer beyond 64 bits is an error, never a wrong number. */
import { INT64, UINT64 } from "../literals.ts";
import { declare, metered, type Declarations, type Evaluate } from "../declarations.ts";
import type { Meter } from "../meter.ts";
import { tooLongText, tooManyBytes, tooManyItems } from "../size-limits.ts";
import {
  CelDuration,
  CelTimestamp,
  CelUint,
  failure,
  isList,
  itemsOf,
  listOf,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelValue,
} from "../values.ts";

const OVERFLOW = failure("integer overflow");
const UNSIGNED_OVERFLOW = failure("unsigned integer overflow");
const DURATION_OVERFLOW = failure("duration overflow");
const TIMESTAMP_OVERFLOW = failure("timestamp overflow");
const NANOS = 1_000_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const MIN_SECONDS = -62_135_596_800n;
const MAX_SECONDS = 253_402_300_799n;

export function checkedInt(value: bigint): CelValue {
  return value < INT64.min || value > INT64.max ? OVERFLOW : value;
}

export function checkedUint(value: bigint): CelValue {
  return value < UINT64.min || value > UINT64.max ? UNSIGNED_OVERFLOW : new CelUint(value);
}

function checkedDuration(nanos: bigint): CelValue {
  return nanos < INT64.min || nanos > INT64.max ? DURATION_OVERFLOW : new CelDuration(nanos);
}

export function checkedTimestamp(nanosSinceEpoch: bigint, offset = 0): CelValue {
  const rest = ((nanosSinceEpoch % NANOS) + NANOS) % NANOS;
  const seconds = (nanosSinceEpoch - rest) / NANOS;
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) return TIMESTAMP_OVERFLOW;
  return new CelTimestamp({ seconds, nanos: Number(rest), offset });
}

function nanosOf(value: CelTimestamp): bigint {
  return value.instant.seconds * NANOS + BigInt(value.instant.nanos);
}

export function add(a: CelValue, b: CelValue, meter: Meter): CelValue {
  if (typeof a === "bigint" && typeof b === "bigint") return checkedInt(a + b);
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (typeof a === "string" && typeof b === "string") return tooLongText(a.length + b.length) ?? a + b;
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return addBytes(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return checkedDuration(a.nanos + b.nanos);
  if (a instanceof CelDuration && b instanceof CelTimestamp) return checkedTimestamp(nanosOf(b) + a.nanos, b.instant.offset);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return checkedTimestamp(nanosOf(a) + b.nanos, a.instant.offset);
  if (!isList(a) || !isList(b)) return NO_SUCH_OVERLOAD;
  return addLists(a, b, meter);
}

function addBytes(a: Uint8Array, b: Uint8Array): CelValue {
  const refused = tooManyBytes(a.length + b.length);
  if (refused !== undefined) return refused;
  const sum = new Uint8Array(a.length + b.length);
  sum.set(a);
  sum.set(b, a.length);
  return sum;
}

/** The cost in Kubernetes is one for lists of any length. */
function addLists(a: CelList, b: CelList, meter: Meter): CelValue {
  const refused = tooManyItems(a.size + b.size);
  if (refused !== undefined) return refused;
  if (a.addAll !== undefined) return a.addAll(b, meter);
  return meter.work((a.size + b.size) * 3) ?? listOf([...itemsOf(a), ...itemsOf(b)]);
}

function subtract(a: CelValue, b: CelValue): CelValue {
  if (typeof a === "bigint" && typeof b === "bigint") return checkedInt(a - b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value - b.value);
  if (a instanceof CelDuration && b instanceof CelDuration) return checkedDuration(a.nanos - b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return checkedDuration(nanosOf(a) - nanosOf(b));
  return a instanceof CelTimestamp && b instanceof CelDuration
    ? checkedTimestamp(nanosOf(a) - b.nanos, a.instant.offset)
    : NO_SUCH_OVERLOAD;
}

function multiply(a: CelValue, b: CelValue): CelValue {
  if (typeof a === "bigint" && typeof b === "bigint") return checkedInt(a * b);
  if (typeof a === "number" && typeof b === "number") return a * b;
  return a instanceof CelUint && b instanceof CelUint ? checkedUint(a.value * b.value) : NO_SUCH_OVERLOAD;
}

function divide(a: CelValue, b: CelValue): CelValue {
  if (typeof a === "number" && typeof b === "number") return a / b;
  if (typeof a === "bigint" && typeof b === "bigint") return b === 0n ? failure("division by zero") : checkedInt(a / b);
  if (!(a instanceof CelUint) || !(b instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return b.value === 0n ? failure("division by zero") : new CelUint(a.value / b.value);
}

function modulo(a: CelValue, b: CelValue): CelValue {
  if (typeof a === "bigint" && typeof b === "bigint") {
    if (b === 0n) return failure("modulus by zero");
    return a === INT64.min && b === -1n ? OVERFLOW : a % b;
  }
  if (!(a instanceof CelUint) || !(b instanceof CelUint)) return NO_SUCH_OVERLOAD;
  return b.value === 0n ? failure("modulus by zero") : new CelUint(a.value % b.value);
}

function negate(value: CelValue): CelValue {
  if (typeof value === "bigint") return checkedInt(-value);
  return typeof value === "number" ? -value : NO_SUCH_OVERLOAD;
}

function binary(run: (a: CelValue, b: CelValue) => CelValue): Evaluate {
  return (a = null, b = null) => run(a, b);
}

export function arithmetic(): Declarations {
  const plus = metered((meter, a = null, b = null) => add(a, b, meter));
  const minus = binary(subtract);
  const times = binary(multiply);
  const over = binary(divide);
  const rest = binary(modulo);
  const minusOne: Evaluate = (value = null) => negate(value);
  return declare([
    ["add_bytes", "_+_(bytes, bytes) -> bytes", plus],
    ["add_double", "_+_(double, double) -> double", plus],
    ["add_duration_duration", "_+_(duration, duration) -> duration", plus],
    ["add_duration_timestamp", "_+_(duration, timestamp) -> timestamp", plus],
    ["add_timestamp_duration", "_+_(timestamp, duration) -> timestamp", plus],
    ["add_int64", "_+_(int, int) -> int", plus],
    ["add_list", "_+_(list(A), list(A)) -> list(A)", plus],
    ["add_string", "_+_(string, string) -> string", plus],
    ["add_uint64", "_+_(uint, uint) -> uint", plus],
    ["subtract_double", "_-_(double, double) -> double", minus],
    ["subtract_duration_duration", "_-_(duration, duration) -> duration", minus],
    ["subtract_int64", "_-_(int, int) -> int", minus],
    ["subtract_timestamp_duration", "_-_(timestamp, duration) -> timestamp", minus],
    ["subtract_timestamp_timestamp", "_-_(timestamp, timestamp) -> duration", minus],
    ["subtract_uint64", "_-_(uint, uint) -> uint", minus],
    ["multiply_double", "_*_(double, double) -> double", times],
    ["multiply_int64", "_*_(int, int) -> int", times],
    ["multiply_uint64", "_*_(uint, uint) -> uint", times],
    ["divide_double", "_/_(double, double) -> double", over],
    ["divide_int64", "_/_(int, int) -> int", over],
    ["divide_uint64", "_/_(uint, uint) -> uint", over],
    ["modulo_int64", "_%_(int, int) -> int", rest],
    ["modulo_uint64", "_%_(uint, uint) -> uint", rest],
    ["negate_double", "-_(double) -> double", minusOne],
    ["negate_int64", "-_(int) -> int", minusOne],
  ]);
}
