/**
 * The cost of a call, computed from the sizes of its operands before the call: cel-go's CostTracker and Kubernetes' CostEstimator.CallCost. One
 * unit is about a hundred nanoseconds on a real server.
 *
 * Where the real server charges by the size of a result, that size follows from the operands.
 */
import type { Meter } from "../meter.ts";
import { CelOpaque, CelOptional, isList, isMap, type CelValue } from "../values.ts";
import { LIST_COST, REGEX_FACTOR, STRUCT_COST, TEXT_FACTOR } from "./sizes.ts";

export type CostedCall = {
  readonly name: string;
  readonly overload: string;
  readonly args: readonly CelValue[];
  readonly meter: Meter;
};
export type Cost = (call: CostedCall) => number;

function sizeOf(value: CelValue | undefined, meter: Meter): number {
  if (typeof value === "string") return meter.characters(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional) return sizeOf(value.value, meter);
  return value !== undefined && (isList(value) || isMap(value)) ? value.size : 1;
}

function ceil(size: number, factor = TEXT_FACTOR): number {
  return Math.ceil(size * factor);
}

/** Proportional to the length of the operand at this position. */
function textAt(position: number, factor = TEXT_FACTOR): Cost {
  return ({ args, meter }) => ceil(sizeOf(args[position], meter), factor);
}

/** A text and its pattern: one step for each character and each part of the pattern. */
const regex: Cost = ({ args, meter }) => ceil(1 + sizeOf(args[0], meter)) * ceil(sizeOf(args[1], meter), REGEX_FACTOR);

const compared: Cost = ({ args: [a, b], meter }) => {
  if (a instanceof CelOpaque) return 1;
  // a text has at least half as many code points as code units, so the longer of two need not be counted
  if (typeof a === "string" && typeof b === "string" && a.length * 2 <= b.length) return ceil(meter.characters(a));
  if (typeof a === "string" && typeof b === "string" && b.length * 2 <= a.length) return ceil(meter.characters(b));
  return ceil(Math.min(sizeOf(a, meter), sizeOf(b, meter)));
};

const ordered: Cost = (call) => (typeof call.args[0] === "string" || call.args[0] instanceof Uint8Array ? compared(call) : 1);

const added: Cost = ({ args: [a, b], meter }) => {
  const isText = typeof a === "string" || a instanceof Uint8Array;
  return isText ? ceil(sizeOf(a, meter) + sizeOf(b, meter)) : 1;
};

/** Each element once; of texts a tenth of their bytes. */
const traversed: Cost = ({ args: [value], meter }) => traversal(value, meter);

function traversal(value: CelValue | undefined, meter: Meter): number {
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * TEXT_FACTOR);
  if (value instanceof Uint8Array) return Math.trunc(value.length * TEXT_FACTOR);
  if (value === undefined || !isList(value)) return 1;
  meter.work(value.size);
  let total = 0;
  for (let at = 0; at < value.size; at++) {
    const item = value.get(at);
    const cost = isList(item) ? meter.nested(1, () => traversal(item, meter)) : traversal(item, meter);
    total += typeof cost === "number" ? cost : Number.POSITIVE_INFINITY;
  }
  return total;
}

/** All pairs of elements, as an allocated list. */
function selfCompared(position: number): Cost {
  return ({ args }) => {
    const list = args[position];
    if (list === undefined || !isList(list)) return 1;
    const first = list.size > 0 ? list.get(0) : undefined;
    const isText = typeof first === "string" || first instanceof Uint8Array;
    return allocated(list.size ** 2 * (isText ? 2 + TEXT_FACTOR : 2));
  };
}

function allocated(size: number): number {
  return Math.trunc(size) + 1 + LIST_COST;
}

const sliced: Cost = ({ args: [list, start, end] }) => {
  const isRange = typeof start === "bigint" && typeof end === "bigint" && list !== undefined && isList(list);
  return allocated(isRange ? Math.min(list.size, Math.max(0, Number(end - start))) : 1);
};

const flattened: Cost = ({ args: [list, depth], meter }) =>
  allocated(sizeOf(list, meter) * (typeof depth === "bigint" ? Math.max(0, Number(depth)) : 1));

const ranged: Cost = ({ args: [count] }) => allocated(typeof count === "bigint" ? Math.max(0, Number(count)) : 1);

function pairs(factor: number): Cost {
  return ({ args: [a, b], meter }) => 1 + sizeOf(a, meter) * sizeOf(b, meter) * factor;
}

const joined: Cost = ({ args: [list, separator], meter }) => {
  if (list === undefined || !isList(list)) return 1;
  meter.work(list.size);
  let texts = 0;
  for (let at = 0; at < list.size; at++) texts += sizeOf(list.get(at), meter);
  const gaps = typeof separator === "string" ? meter.characters(separator) * Math.max(0, list.size - 1) : 0;
  return ceil(texts + gaps, 2 * TEXT_FACTOR);
};

/** Allows two checks of the authorizer in one expression, and no more. */
const AUTHORIZATION_COST = 350_000;

/** A selector is parsed, and each of its requirements (two characters at least) is stored. */
const selector: Cost = ({ args, meter }) => {
  const size = sizeOf(args[1], meter);
  return LIST_COST + ceil(size) + Math.ceil(Math.ceil(size / 2) * (LIST_COST + STRUCT_COST));
};

/** The real server uses the longest regular expression of a named format for all of them. */
const FORMAT_PATTERN = 128;
const validated: Cost = ({ args, meter }) => ceil(1 + sizeOf(args[1], meter)) * ceil(FORMAT_PATTERN, REGEX_FACTOR);

/** The size of an address is one: two of its bytes are compared, and a text is parsed first. */
const contained: Cost = ({ name, overload, args, meter }) => {
  const compare = ceil(2) + (name === "containsCIDR" ? ceil(1) + 1 : 0);
  return compare + (overload.endsWith("_string") ? ceil(sizeOf(args[1], meter)) : 0);
};

const readText = textAt(0);

/** By function. */
const BY_NAME: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ["_==_", compared],
  ["_!=_", compared],
  ["_<_", ordered],
  ["_<=_", ordered],
  ["_>_", ordered],
  ["_>=_", ordered],
  ["_+_", added],
  ["@in", ({ args, meter }) => (args[1] !== undefined && isList(args[1]) ? sizeOf(args[1], meter) : 1)],
  ["startsWith", readText],
  ["endsWith", readText],
  ["contains", ({ args, meter }) => ceil(sizeOf(args[0], meter)) * ceil(sizeOf(args[1], meter))],
  ["matches", regex],
  ["find", regex],
  ["findAll", regex],
  ["format", readText],
  ["lowerAscii", readText],
  ["upperAscii", readText],
  ["substring", readText],
  ["trim", readText],
  ["strings.quote", readText],
  ["jsonpatch.escapeKey", readText],
  ["string", ({ args, meter }) => (args[0] instanceof Uint8Array ? ceil(sizeOf(args[0], meter)) : 1)],
  ["bytes", ({ args, meter }) => (typeof args[0] === "string" ? ceil(sizeOf(args[0], meter)) : 1)],
  ["replace", textAt(0, 2 * TEXT_FACTOR)],
  ["split", textAt(0, 2 * TEXT_FACTOR)],
  ["join", joined],
  ["url", readText],
  ["cidr", readText],
  ["isCIDR", readText],
  ["ip", ({ overload, args, meter }) => (overload === "cidr_ip" ? 1 : ceil(sizeOf(args[0], meter)))],
  ["isIP", readText],
  ["ip.isCanonical", textAt(0, 2 * TEXT_FACTOR)],
  ["containsIP", contained],
  ["containsCIDR", contained],
  ["quantity", readText],
  ["isQuantity", readText],
  ["semver", readText],
  ["isSemver", readText],
  ["isSorted", traversed],
  ["sum", traversed],
  ["max", traversed],
  ["min", traversed],
  ["indexOf", traversed],
  ["lastIndexOf", traversed],
  ["validate", validated],
  ["sort", selfCompared(0)],
  ["distinct", selfCompared(0)],
  ["@sortByAssociatedKeys", selfCompared(1)],
  ["slice", sliced],
  ["reverse", ({ args, meter }) => allocated(sizeOf(args[0], meter))],
  ["flatten", flattened],
  ["lists.range", ranged],
  ["sets.contains", pairs(1)],
  ["sets.intersects", pairs(1)],
  ["sets.equivalent", pairs(2)],
  ["check", () => AUTHORIZATION_COST],
  ["fieldSelector", selector],
  ["labelSelector", selector],
]);

/** Undefined: a call of the function costs one. */
export function costFunction(name: string): Cost | undefined {
  return BY_NAME.get(name);
}
