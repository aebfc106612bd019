/** `"%s is %d".format([a, b])`: `%s %d %f %e %b %x %X %o`, with a precision for the two floats. */
import { quote } from "../../../apply/go-text.ts";
import { entriesOf } from "../maps.ts";
import { typeName } from "../value-types.ts";
import { CelDuration, CelFailure, CelTimestamp, CelTypeValue, CelUint, failure, isList, isMap, itemsOf, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";
import { doubleText, toText } from "./conversions.ts";

const PRECISION = 6;

export function format(template: string, list: CelValue): CelValue {
  if (!isList(list)) return NO_SUCH_OVERLOAD;
  let out = "";
  let used = 0;
  let rest = template;
  for (let percent = rest.indexOf("%"); percent >= 0; percent = rest.indexOf("%")) {
    out += rest.slice(0, percent);
    const clause = /^%(?:\.(\d{1,9}))?([a-zA-Z%])/.exec(rest.slice(percent));
    if (clause === null) return failure(rest.length === percent + 1 ? "unexpected end of string" : `unrecognized formatting clause ${quote(rest.charAt(percent + 1))}`);
    const [all = "", precision, verb = ""] = clause;
    rest = rest.slice(percent + all.length);
    if (verb === "%") {
      out += "%";
      continue;
    }
    if (used >= list.size) return failure(`index ${used} out of range`);
    const text = formatOne(verb, list.get(used), precision === undefined ? PRECISION : Number(precision));
    used += 1;
    if (text instanceof CelFailure) return text;
    out += text;
  }
  return out + rest;
}

function formatOne(verb: string, value: CelValue, precision: number): string | CelFailure {
  switch (verb) {
    case "s":
      return plain(value);
    case "d":
      return integerOf(value)?.toString() ?? problem("decimal clause can only be used on integers", value);
    case "f":
      return typeof value === "number" ? fixed(value, precision) : problem("fixed-point clause can only be used on doubles", value);
    case "e":
      return typeof value === "number" ? scientific(value, precision) : problem("scientific clause can only be used on doubles", value);
    case "b":
      return typeof value === "boolean" ? (value ? "1" : "0") : (integerOf(value)?.toString(2) ?? problem("only integers and bools can be formatted as binary", value));
    case "o":
      return integerOf(value)?.toString(8) ?? problem("octal clause can only be used on integers", value);
    case "x":
    case "X":
      return hexadecimal(value, verb === "X");
    default:
      return failure(`could not parse formatting clause: unrecognized formatting clause ${quote(verb)}`);
  }
}

function problem(rule: string, value: CelValue): CelFailure {
  return failure(`error during formatting: ${rule}, was given ${typeName(value)}`);
}

function integerOf(value: CelValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** With thousands separated, as the server's locale has it. */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const [whole = "", fraction] = value.toFixed(Math.min(precision, 100)).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return fixed(value, 0);
  const [digits = "", exponent = "0"] = value.toExponential(Math.min(precision, 100)).split("e");
  const power = Number(exponent);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function hexadecimal(value: CelValue, upper: boolean): string | CelFailure {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value instanceof Uint8Array ? value : undefined;
  const text = bytes === undefined ? integerOf(value)?.toString(16) : [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (text === undefined) return problem("only integers, byte buffers, and strings can be formatted as hex", value);
  return upper ? text.toUpperCase() : text;
}

function plain(value: CelValue): string | CelFailure {
  if (value === null) return "null";
  if (isList(value) || isMap(value)) return nested(value);
  if (value instanceof CelTypeValue) return value.type.name;
  const text = toText(value);
  if (text instanceof CelFailure) return problem("string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps", value);
  return String(text);
}

/** Inside lists and maps, texts are quoted and doubles have six digits. */
function nested(value: CelValue): string | CelFailure {
  if (isList(value)) return joined(itemsOf(value).map(nested), "[", "]");
  if (isMap(value)) {
    const pairs = entriesOf(value).map(([key, item]) => [nested(key), nested(item)] as const);
    const broken = pairs.flat().find((part) => part instanceof CelFailure);
    if (broken instanceof CelFailure) return broken;
    return joined(pairs.map(([key, item]) => `${key}:${item}`).toSorted(), "{", "}");
  }
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(PRECISION) : quote(doubleText(value));
  const text = plain(value);
  if (text instanceof CelFailure) return text;
  if (typeof value === "string") return quote(text);
  if (value instanceof Uint8Array) return `b${quote(text)}`;
  if (value instanceof CelTimestamp) return `timestamp(${quote(text)})`;
  return value instanceof CelDuration ? `duration(${quote(text)})` : text;
}

function joined(parts: readonly (string | CelFailure)[], open: string, close: string): string | CelFailure {
  return parts.find((part) => part instanceof CelFailure) ?? `${open}${parts.join(", ")}${close}`;
}
