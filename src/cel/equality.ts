/**
 * Equality and order. Numbers of different types are compared by value; other values of different types are not equal.
 *
 * Values of an object are stricter: comparing a list or a map with another type is an error, as in the API server.
 */
import { goCompareText, jsonEqual } from "#kube";
import { jsonSize } from "./json-size.ts";
import type { Meter } from "./meter.ts";
import {
  CelDuration,
  CelFailure,
  CelOpaque,
  CelOptional,
  CelPreserved,
  CelStruct,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  isList,
  isMap,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelMap,
  type CelValue,
} from "./values.ts";
import { formatType } from "./types.ts";
import { isAuthorization } from "./authorizer.ts";

/** Each compared value is charged as work: Kubernetes charges for the first level only. */
export function equal(a: CelValue, b: CelValue, meter: Meter): boolean | CelFailure {
  const spent = meter.work(20);
  if (spent !== undefined) return spent;
  if (a instanceof CelFailure) return a;
  if (b instanceof CelFailure) return b;
  if (a === null || b === null) return a === b;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (isList(a)) return isList(b) ? meter.nested(1, () => equalLists(a, b, meter)) : mismatch(a);
  if (isMap(a)) return isMap(b) ? meter.nested(1, () => equalMaps(a, b, meter)) : mismatch(a);
  if (a instanceof CelOpaque && isAuthorization(a.content)) return NO_SUCH_OVERLOAD;
  return equalOthers(a, b, meter);
}

/** Values of an object have their own comparison; literals have none. */
function mismatch(value: CelList | CelMap): boolean | CelFailure {
  return value.equalTo === undefined ? false : NO_SUCH_OVERLOAD;
}

function equalOthers(a: CelValue, b: CelValue, meter: Meter): boolean | CelFailure {
  if (typeof a === "string" && typeof b === "string") return meter.work(Math.min(a.length, b.length) / 64) ?? a === b;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && compareInstants(a, b) === 0;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && typeText(a) === typeText(b);
  if (a instanceof CelOptional) return b instanceof CelOptional && meter.nested(1, () => equalOptionals(a, b, meter));
  if (a instanceof CelOpaque) return b instanceof CelOpaque && opaqueText(a) === opaqueText(b);
  if (a instanceof CelPreserved) return b instanceof CelPreserved && equalJson(a, b, meter);
  if (a instanceof CelStruct) return b instanceof CelStruct && meter.nested(1, () => equalStructs(a, b, meter));
  return a === b;
}

function typeText(value: CelTypeValue): string {
  return value.type.parameters.length === 0 ? formatType(value.type) : value.type.name;
}

function equalOptionals(a: CelOptional, b: CelOptional, meter: Meter): boolean | CelFailure {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equalOrNot(a.value, b.value, meter);
}

/** A failed comparison means "not equal", unless a limit was reached. */
export function equalOrNot(a: CelValue, b: CelValue, meter: Meter): boolean | CelFailure {
  const same = equal(a, b, meter);
  return typeof same === "boolean" || same.fatal ? same : false;
}

/** A part of an object without a schema. The comparison cannot be interrupted, so its size is charged first. */
function equalJson(a: CelPreserved, b: CelPreserved, meter: Meter): boolean | CelFailure {
  return meter.work(jsonSize(a.json) * 4) ?? jsonEqual(a.json, b.json);
}

function equalStructs(a: CelStruct, b: CelStruct, meter: Meter): boolean | CelFailure {
  if (a.type.name !== b.type.name || a.fields.size !== b.fields.size) return false;
  for (const [name, value] of a.fields) {
    const same = equalOrNot(value, b.fields.get(name) ?? null, meter);
    if (same !== true) return same;
  }
  return true;
}

function opaqueText(value: CelOpaque): string {
  const { content } = value;
  switch (content.of) {
    case "quantity":
      return `quantity ${content.nanos}`;
    case "ip":
      return `ip ${content.address.family} ${content.address.bits}`;
    case "cidr":
      return `cidr ${content.cidr.address.family} ${content.cidr.address.bits} ${content.cidr.prefix}`;
    case "url":
      return `url ${content.text}`;
    case "semver":
      return `semver ${content.version.major}.${content.version.minor}.${content.version.patch}-${content.version.prerelease.join(".")}`;
    case "format":
      return `format ${content.name}`;
    default:
      return content.of; // values of the authorizer cannot be compared
  }
}

function equalLists(a: CelList, b: CelList, meter: Meter): boolean | CelFailure {
  if (a.size !== b.size) return false;
  if (a.equalTo !== undefined) return a.equalTo(b, meter);
  for (let at = 0; at < a.size; at++) {
    const same = equal(a.get(at), b.get(at), meter);
    if (same !== true) return same;
  }
  return true;
}

function equalMaps(a: CelMap, b: CelMap, meter: Meter): boolean | CelFailure {
  if (a.size !== b.size) return false;
  if (a.equalTo !== undefined) return a.equalTo(b, meter);
  const spent = meter.work(a.size);
  if (spent !== undefined) return spent;
  for (const key of a.keys()) {
    const other = b.get(key);
    if (other === undefined) return false;
    const same = equal(a.get(key) ?? null, other, meter);
    if (same !== true) return same;
  }
  return true;
}

type Numeric = bigint | number | CelUint;

export function isNumber(value: CelValue): value is Numeric {
  return typeof value === "bigint" || typeof value === "number" || value instanceof CelUint;
}

function compareNumbers(a: Numeric, b: Numeric): number {
  const left = a instanceof CelUint ? a.value : a;
  const right = b instanceof CelUint ? b.value : b;
  return left < right ? -1 : left > right ? 1 : left == right ? 0 : Number.NaN; // == compares a bigint with a number exactly
}

function compareInstants(a: CelTimestamp, b: CelTimestamp): number {
  const seconds = sign(a.instant.seconds - b.instant.seconds);
  return seconds === 0 ? Math.sign(a.instant.nanos - b.instant.nanos) : seconds;
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

/** Below 0, 0, above 0; NaN is not comparable; a failure when the two have no order. */
export function compare(a: CelValue, b: CelValue): number | CelFailure {
  if (isNumber(a) && isNumber(b)) {
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? new CelFailure("NaN values cannot be ordered") : order;
  }
  if (typeof a === "string" && typeof b === "string") return goCompareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return compareInstants(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return sign(a.nanos - b.nanos);
  return NO_SUCH_OVERLOAD;
}
