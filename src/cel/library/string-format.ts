/** `"%s is %d".format([a, b])`: `%s %d %f %e %b %x %X %o`, with a precision for the two floats. */
import { goQuote } from "#kube";
import { entriesOf } from "../maps.ts";
import type { Meter } from "../meter.ts";
import { tooLongText } from "../size-limits.ts";
import type { CelType, TypeKind } from "../types.ts";
import { typeName } from "../value-types.ts";
import {
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  failure,
  isList,
  isMap,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelMap,
  type CelValue,
} from "../values.ts";
import { doubleText, toText } from "./conversions.ts";
import { fixed, scientific } from "./number-format.ts";

const PRECISION = 6;

type Clause = { readonly verb: string; readonly precision: number };
type Template = { readonly parts: readonly (string | Clause)[]; readonly problem: string | undefined };

/** Alternating texts and clauses, up to the first invalid clause. */
function readTemplate(template: string): Template {
  const parts: (string | Clause)[] = [];
  let rest = template;
  for (let percent = rest.indexOf("%"); percent >= 0; percent = rest.indexOf("%")) {
    parts.push(rest.slice(0, percent));
    const clause = /^%(?:\.(\d{1,9}))?([^])/u.exec(rest.slice(percent));
    if (clause === null) return { parts, problem: "unexpected end of string" };
    const [all = "", precision, verb = ""] = clause;
    rest = rest.slice(percent + all.length);
    if (all === "%%") parts.push("%");
    else if (!ACCEPTED.has(verb))
      return { parts, problem: `could not parse formatting clause: unrecognized formatting clause ${goQuote(verb)}` };
    else parts.push({ verb, precision: precision === undefined ? PRECISION : Number(precision) });
  }
  return { parts: [...parts, rest], problem: undefined };
}

/** The cost in Kubernetes is that of the template and not of the arguments. */
export function format(text: string, list: CelValue, meter: Meter): CelValue {
  if (!isList(list)) return NO_SUCH_OVERLOAD;
  const { parts, problem: broken } = readTemplate(text);
  let out = "";
  let used = 0;
  for (const part of parts) {
    if (typeof part !== "string" && used >= list.size) return failure(`index ${used} out of range`);
    const shown = typeof part === "string" ? part : formatOne(part, list.get(used), meter);
    if (typeof part !== "string") used += 1;
    if (shown instanceof CelFailure) return shown;
    const refused = tooLongText(out.length + shown.length) ?? meter.work(10 + shown.length / 8);
    if (refused !== undefined) return refused;
    out += shown;
  }
  return broken === undefined ? out : failure(used >= list.size ? `index ${used} out of range` : broken);
}

const INTEGERS: readonly TypeKind[] = ["int", "uint"];
const ANY_TEXT: readonly TypeKind[] = [
  "list",
  "map",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "timestamp",
  "bytes",
  "duration",
  "type",
  "null",
];

/** The types that each clause accepts, and the error for others. */
const ACCEPTED: ReadonlyMap<string, readonly [kinds: readonly TypeKind[], rule: string]> = new Map<
  string,
  readonly [readonly TypeKind[], string]
>([
  [
    "s",
    [ANY_TEXT, "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"],
  ],
  ["d", [INTEGERS, "decimal clause can only be used on integers"]],
  ["f", [["double", "string"], "fixed-point clause can only be used on doubles"]],
  ["e", [["double", "string"], "scientific clause can only be used on doubles"]],
  ["b", [[...INTEGERS, "bool"], "only integers and bools can be formatted as binary"]],
  ["o", [INTEGERS, "octal clause can only be used on integers"]],
  ["x", [[...INTEGERS, "string", "bytes"], "only integers, byte buffers, and strings can be formatted as hex"]],
  ["X", [[...INTEGERS, "string", "bytes"], "only integers, byte buffers, and strings can be formatted as hex"]],
]);

/** At compilation: the clauses against the types of the arguments. `argument`: the position of the error. */
export function checkFormat(text: string, types: readonly CelType[]): { readonly message: string; readonly argument?: number } | undefined {
  const { parts, problem: broken } = readTemplate(text);
  let used = 0;
  for (const part of parts) {
    if (typeof part === "string") continue;
    const type = types[used];
    if (type === undefined) return { message: `index ${used} out of range` };
    const [kinds, rule] = ACCEPTED.get(part.verb) ?? [ANY_TEXT, ""];
    if (type.kind !== "dyn" && !kinds.includes(type.kind))
      return { message: `error during formatting: ${rule}, was given ${type.name}`, argument: used };
    used += 1;
  }
  if (broken !== undefined) return { message: used >= types.length ? `index ${used} out of range` : broken };
  return used < types.length
    ? { message: `too many arguments supplied to string.format (expected ${used}, got ${types.length})` }
    : undefined;
}

function formatOne({ verb, precision }: Clause, value: CelValue, meter: Meter): string | CelFailure {
  const text = verb === "s" ? plain(value, meter) : clauseText(verb, value, precision);
  return text ?? failure(`error during formatting: ${ACCEPTED.get(verb)?.[1] ?? ""}, was given ${typeName(value)}`);
}

function clauseText(verb: string, value: CelValue, precision: number): string | undefined {
  switch (verb) {
    case "d":
      return integerOf(value)?.toString();
    case "f":
      return typeof value === "number" ? fixed(value, precision) : undefined;
    case "e":
      return typeof value === "number" ? scientific(value, precision) : undefined;
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : integerOf(value)?.toString(2);
    case "o":
      return integerOf(value)?.toString(8);
    default:
      return hexadecimal(value, verb === "X");
  }
}

function integerOf(value: CelValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof CelUint ? value.value : undefined;
}

function hexadecimal(value: CelValue, upper: boolean): string | undefined {
  const bytes = typeof value === "string" ? Buffer.from(value) : value instanceof Uint8Array ? Buffer.from(value) : undefined;
  const text = bytes === undefined ? integerOf(value)?.toString(16) : bytes.toString("hex");
  return upper ? text?.toUpperCase() : text;
}

function plain(value: CelValue, meter: Meter): string | CelFailure | undefined {
  if (value === null) return "null";
  if (isList(value) || isMap(value)) return nested(value, meter);
  if (value instanceof CelTypeValue) return value.type.name;
  const text = toText(value);
  return typeof text === "string" ? text : undefined;
}

/** Inside lists and maps, texts are quoted and doubles have six digits. */
function nested(value: CelValue, meter: Meter): string | CelFailure {
  const spent = meter.work(40);
  if (spent !== undefined) return spent;
  if (isList(value)) return meter.nested(1, () => nestedList(value, meter));
  if (isMap(value)) return meter.nested(1, () => nestedMap(value, meter));
  if (typeof value === "number") return Number.isFinite(value) ? value.toFixed(PRECISION) : goQuote(doubleText(value));
  const text = plain(value, meter) ?? failure(`no formatting function for ${typeName(value)}`);
  if (text instanceof CelFailure) return text;
  return meter.work(text.length * 4) ?? quotedScalar(value, text);
}

function quotedScalar(value: CelValue, text: string): string {
  if (typeof value === "string") return goQuote(text);
  if (value instanceof Uint8Array) return `b${goQuote(text)}`;
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(text)})`;
  return value instanceof CelDuration ? `duration(${goQuote(text)})` : text;
}

function nestedList(list: CelList, meter: Meter): string | CelFailure {
  const texts: string[] = [];
  for (let at = 0; at < list.size; at++) {
    const text = nested(list.get(at), meter);
    if (typeof text !== "string") return text;
    texts.push(text);
  }
  return joined(texts, ["[", "]"], meter);
}

function nestedMap(map: CelMap, meter: Meter): string | CelFailure {
  const texts: string[] = [];
  for (const [key, item] of entriesOf(map)) {
    const name = nested(key, meter);
    if (typeof name !== "string") return name;
    const text = nested(item, meter);
    if (typeof text !== "string") return text;
    texts.push(`${name}:${text}`);
  }
  return joined(texts.toSorted(), ["{", "}"], meter);
}

function joined(texts: readonly string[], [open, close]: readonly [string, string], meter: Meter): string | CelFailure {
  const length = texts.reduce((total, text) => total + text.length + 2, 0);
  return tooLongText(length) ?? meter.work(length / 8) ?? `${open}${texts.join(", ")}${close}`;
}
