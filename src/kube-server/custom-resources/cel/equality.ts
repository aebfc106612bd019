/**
 * Equality and order. Numbers of different types are compared by value; anything else of different types is simply not equal.
 *
 * Values that come from an object are stricter: a list or a map compared with something else is an error, as in the API server.
 */
import { jsonEqual } from "#kube";
import { compareText } from "../../apply/go-text.ts";
import { isAuthorization } from "./library/authorization.ts";
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
  itemsOf,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelMap,
  type CelValue,
} from "./values.ts";
import { formatType } from "./types.ts";

export function equal(a: CelValue, b: CelValue): boolean | CelFailure {
  if (a instanceof CelFailure) return a;
  if (b instanceof CelFailure) return b;
  if (a === null || b === null) return a === b;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (isList(a)) return isList(b) ? equalLists(a, b) : mismatch(a);
  if (isMap(a)) return isMap(b) ? equalMaps(a, b) : mismatch(a);
  if (a instanceof CelOpaque && isAuthorization(a.content)) return NO_SUCH_OVERLOAD;
  return equalOthers(a, b);
}

/** Values of an object know how they compare; literals do not mind. */
function mismatch(value: CelList | CelMap): boolean | CelFailure {
  return value.equalTo === undefined ? false : NO_SUCH_OVERLOAD;
}

function equalOthers(a: CelValue, b: CelValue): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && compareInstants(a, b) === 0;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && typeText(a) === typeText(b);
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b);
  if (a instanceof CelOpaque) return b instanceof CelOpaque && opaqueText(a) === opaqueText(b);
  if (a instanceof CelPreserved) return b instanceof CelPreserved && jsonEqual(a.json, b.json);
  if (a instanceof CelStruct) return b instanceof CelStruct && equalStructs(a, b);
  return a === b;
}

function typeText(value: CelTypeValue): string {
  return value.type.parameters.length === 0 ? formatType(value.type) : value.type.name;
}

function equalOptionals(a: CelOptional, b: CelOptional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value) === true;
}

function equalStructs(a: CelStruct, b: CelStruct): boolean {
  if (a.type.name !== b.type.name || a.fields.size !== b.fields.size) return false;
  return [...a.fields].every(([name, value]) => equal(value, b.fields.get(name) ?? null) === true);
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
      return content.of; // values of the authorizer compare with nothing
  }
}

function equalLists(a: CelList, b: CelList): boolean | CelFailure {
  if (a.size !== b.size) return false;
  if (a.equalTo !== undefined) return a.equalTo(b);
  for (let at = 0; at < a.size; at++) {
    const same = equal(a.get(at), b.get(at));
    if (same !== true) return same;
  }
  return true;
}

function equalMaps(a: CelMap, b: CelMap): boolean | CelFailure {
  if (a.size !== b.size) return false;
  if (a.equalTo !== undefined) return a.equalTo(b);
  for (const key of a.keys()) {
    const other = b.get(key);
    if (other === undefined) return false;
    const same = equal(a.get(key) ?? null, other);
    if (same !== true) return same;
  }
  return true;
}

/** Equal values have the same text, so that they can be looked up instead of being compared one by one. */
export function contentText(value: CelValue): string {
  if (isNumber(value)) return `n${Number(value instanceof CelUint ? value.value : value)}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (isList(value)) return `[${itemsOf(value).map(contentText).join()}]`;
  if (isMap(value)) {
    const entries = value.keys().map((key) => `${contentText(key)}:${contentText(value.get(key) ?? null)}`);
    return `{${entries.toSorted().join()}}`;
  }
  if (value instanceof CelTimestamp) return `t${value.instant.seconds}.${value.instant.nanos}`;
  if (value instanceof CelDuration) return `d${value.nanos}`;
  return value instanceof Uint8Array ? `b${value.join()}` : "?";
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

/** Below 0, 0, above 0; NaN compares with nothing; a failure when there is no order between the two. */
export function compare(a: CelValue, b: CelValue): number | CelFailure {
  if (isNumber(a) && isNumber(b)) {
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? new CelFailure("NaN values cannot be ordered") : order;
  }
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return compareInstants(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return sign(a.nanos - b.nanos);
  return NO_SUCH_OVERLOAD;
}
