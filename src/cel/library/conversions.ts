/** `int(x)`, `string(x)` and their kin, and the parts of times and durations. */
import { once } from "#base";
import { goFloatText } from "#kube";
import { parseStrictDuration, formatSeconds } from "../formats/durations.ts";
import { civilOf, daysOf, formatInstant, offsetSeconds, parseTimestamp, type CivilTime } from "../formats/timestamps.ts";
import { declare, metered, type Declarations, type Row } from "../declarations.ts";
import type { Meter } from "../meter.ts";
import { tooManyBytes } from "../size-limits.ts";
import { INT64 } from "../literals.ts";
import { CelDuration, CelOpaque, CelTimestamp, CelTypeValue, CelUint, failure, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";
import { typeName, typeOfValue } from "../value-types.ts";
import { formatIp } from "../formats/ip-addresses.ts";
import { checkedInt, checkedTimestamp, checkedUint } from "./arithmetic.ts";

function cannot(value: CelValue, to: string): CelValue {
  return failure(`type conversion error from '${typeName(value)}' to '${to}'`);
}

function toInt(value: CelValue): CelValue {
  if (typeof value === "bigint") return value;
  if (value instanceof CelUint) return checkedInt(value.value);
  if (value instanceof CelDuration) return value.nanos;
  if (value instanceof CelTimestamp) return value.instant.seconds;
  if (typeof value === "number")
    return Number.isFinite(value) && Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : failure("integer overflow");
  if (typeof value !== "string" || !/^[+-]?\d{1,40}$/.test(value)) return cannot(value, "int");
  const parsed = BigInt(value.replace(/^\+/, ""));
  return parsed < INT64.min || parsed > INT64.max ? cannot(value, "int") : parsed;
}

function toUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value;
  if (typeof value === "bigint") return checkedUint(value);
  if (typeof value === "number")
    return value >= 0 && value < 2 ** 64 ? new CelUint(BigInt(Math.trunc(value))) : failure("unsigned integer overflow");
  return typeof value === "string" && /^\d{1,20}$/.test(value) ? checkedUint(BigInt(value)) : cannot(value, "uint");
}

const FLOAT = /^[+-]?(?:\d[\d]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
  ["nan", Number.NaN],
]);

function toDouble(value: CelValue): CelValue {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== "string") return cannot(value, "double");
  const number = FLOAT.test(value) ? Number(value) : Number.NaN;
  return SPECIAL.get(value.toLowerCase()) ?? (Number.isFinite(number) ? number : cannot(value, "double"));
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function toBool(value: CelValue): CelValue {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string" || !(TRUE.has(value) || FALSE.has(value))) return cannot(value, "bool");
  return TRUE.has(value);
}

export function toText(value: CelValue): CelValue {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return doubleText(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDuration) return formatSeconds(value.nanos);
  if (value instanceof CelTimestamp) return formatInstant(value.instant);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof CelOpaque && value.content.of === "ip") return formatIp(value.content.address);
  if (value instanceof CelOpaque && value.content.of === "cidr")
    return `${formatIp(value.content.cidr.address)}/${value.content.cidr.prefix}`;
  return cannot(value, "string");
}

/** `%g`: the shortest digits, with an exponent below 1e-4 and from 1e+06 on. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return Object.is(value, -0) ? "-0" : goFloatText(value);
}

function bytesText(value: Uint8Array): CelValue {
  const text = new TextDecoder().decode(value);
  return text.includes("\ufffd") && !includesReplacement(value) ? failure("invalid UTF-8 in bytes, cannot convert to string") : text;
}

function includesReplacement(value: Uint8Array): boolean {
  return value.some((byte, at) => byte === 0xef && value[at + 1] === 0xbf && value[at + 2] === 0xbd);
}

function toDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value;
  if (typeof value === "bigint") return new CelDuration(value);
  const nanos = typeof value === "string" ? parseStrictDuration(value) : undefined;
  return nanos === undefined ? cannot(value, "google.protobuf.Duration") : new CelDuration(nanos);
}

function toTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value;
  if (typeof value === "bigint") return checkedTimestamp(value * 1_000_000_000n);
  if (typeof value !== "string") return cannot(value, "google.protobuf.Timestamp");
  const parsed = parseTimestamp(value);
  return parsed.value === undefined ? cannot(value, "google.protobuf.Timestamp") : new CelTimestamp(parsed.value);
}

const CONVERSIONS: readonly (readonly [name: string, result: string, from: readonly string[], run: (value: CelValue) => CelValue])[] = [
  ["bool", "bool", ["bool", "string"], toBool],
  ["int", "int", ["int", "double", "duration", "string", "timestamp", "uint"], toInt],
  ["uint", "uint", ["uint", "double", "int", "string"], toUint],
  ["double", "double", ["double", "int", "string", "uint"], toDouble],
  ["string", "string", ["string", "bool", "bytes", "double", "duration", "int", "timestamp", "uint", "IP", "CIDR"], toText],
  ["bytes", "bytes", ["bytes", "string"], (value) => (typeof value === "string" ? new TextEncoder().encode(value) : value)],
  ["duration", "duration", ["duration", "int", "string"], toDuration],
  ["timestamp", "timestamp", ["timestamp", "int", "string"], toTimestamp],
];

type Part = (civil: CivilTime) => number;
type TimePart = { readonly name: string; readonly part: Part; readonly meter: Meter };

const PARTS: readonly (readonly [name: string, part: Part])[] = [
  ["getFullYear", (civil) => civil.year],
  ["getMonth", (civil) => civil.month - 1],
  ["getDayOfYear", (civil) => daysOf(civil.year, civil.month, civil.day) - daysOf(civil.year, 1, 1)],
  ["getDayOfMonth", (civil) => civil.day - 1],
  ["getDate", (civil) => civil.day],
  ["getDayOfWeek", (civil) => (((daysOf(civil.year, civil.month, civil.day) + 4) % 7) + 7) % 7],
  ["getHours", (civil) => civil.hour],
  ["getMinutes", (civil) => civil.minute],
  ["getSeconds", (civil) => civil.second],
  ["getMilliseconds", (civil) => Math.trunc(civil.nanos / 1_000_000)],
];

const DURATION_PARTS: ReadonlyMap<string, bigint> = new Map([
  ["getHours", 3_600_000_000_000n],
  ["getMinutes", 60_000_000_000n],
  ["getSeconds", 1_000_000_000n],
  ["getMilliseconds", 1_000_000n],
]);

/** A fixed offset, or the name of a time zone. */
function offsetOf(zone: string, at: CelTimestamp): number | undefined {
  if (zone === "" || zone === "UTC") return 0;
  const fixed = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed !== null) return offsetSeconds(fixed[1] === "" ? `+${zone}` : zone);
  return zoneOffset(zone, Number(at.instant.seconds) * 1000);
}

/** By zone; creating a formatter takes a hundred times as long as using it. There are about 420 zones. */
const formats = once(() => {
  const entries = Intl.supportedValuesOf("timeZone").map((timeZone) => {
    return [timeZone, once(() => new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" }))] as const;
  });
  return new Map(entries);
});

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  return formats().get(zone)?.();
}

function zoneOffset(zone: string, milliseconds: number): number | undefined {
  const parts = formatOf(zone)?.formatToParts(milliseconds);
  if (parts === undefined) return undefined;
  const name = parts.find((part) => part.type === "timeZoneName")?.value ?? "GMT";
  return name === "GMT" ? 0 : offsetSeconds(name.slice(3));
}

/** Time zones are looked up with Intl, which is slow. */
const ZONE_WORK = 1_000;

function partOf(value: CelValue, zone: CelValue, { name, part, meter }: TimePart): CelValue {
  if (value instanceof CelDuration) return value.nanos / (DURATION_PARTS.get(name) ?? 1n);
  if (!(value instanceof CelTimestamp) || typeof zone !== "string") return NO_SUCH_OVERLOAD;
  const spent = zone === "" ? undefined : meter.work(ZONE_WORK);
  if (spent !== undefined) return spent;
  const offset = offsetOf(zone, value);
  return offset === undefined ? failure(`unknown time zone ${zone}`) : BigInt(part(civilOf(value.instant, offset)));
}

/** The cost of a conversion in Kubernetes is one for a text of any length. The result has at most the size limit of a value. */
function converted(value: CelValue, run: (value: CelValue) => CelValue, meter: Meter): CelValue {
  const spent = typeof value === "string" ? meter.work(value.length * 4) : undefined;
  if (spent !== undefined) return spent;
  const made = run(value);
  return made instanceof Uint8Array ? (tooManyBytes(made.length) ?? made) : made;
}

export function conversions(): Declarations {
  const rows: Row[] = CONVERSIONS.flatMap(([name, result, from, run]) => {
    const evaluate = metered((meter, value = null) => converted(value, run, meter));
    return from.map((type): Row => [`${type}_to_${name}`, `${name}(${type}) -> ${result}`, evaluate]);
  });
  for (const [name, part] of PARTS) {
    const id = name.replace("get", "").toLowerCase();
    const evaluate = metered((meter, value = null, zone = "") => partOf(value, zone, { name, part, meter }));
    rows.push(
      [`timestamp_to_${id}`, `<timestamp> ${name}() -> int`, evaluate],
      [`timestamp_to_${id}_with_tz`, `<timestamp> ${name}(string) -> int`, evaluate],
    );
    if (DURATION_PARTS.has(name)) rows.push([`duration_to_${id}`, `<duration> ${name}() -> int`, evaluate]);
  }
  rows.push(["to_dyn", "dyn(A) -> dyn", (value = null) => value]);
  rows.push(["type", "type(A) -> type(A)", (value = null) => new CelTypeValue(typeOfValue(value))]);
  return declare(rows);
}
