/** What a call did cost, from the sizes of its operands; one unit is about a hundred nanoseconds on a real server. */
import { isList, isMap, CelOptional, type CelValue } from "../values.ts";
import { characters } from "../../validation/schema-validator.ts";
import { LIST_COST, REGEX_FACTOR, STRUCT_COST, TEXT_FACTOR } from "./sizes.ts";

export function sizeOf(value: CelValue | undefined): number {
  if (typeof value === "string") return characters(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional) return sizeOf(value.value);
  return value !== undefined && (isList(value) || isMap(value)) ? value.size : 1;
}

function text(value: CelValue | undefined, factor = 1): number {
  return Math.ceil(sizeOf(value) * factor * TEXT_FACTOR);
}

function regex(subject: CelValue | undefined, pattern: CelValue | undefined): number {
  return Math.ceil((1 + sizeOf(subject)) * TEXT_FACTOR) * Math.ceil(sizeOf(pattern) * REGEX_FACTOR);
}

function compared(args: readonly CelValue[], factor: number): number {
  const [list] = args;
  const first = list !== undefined && isList(list) && list.size > 0 ? list.get(0) : undefined;
  const isText = typeof first === "string" || first instanceof Uint8Array;
  return Math.trunc(sizeOf(list) ** 2 * (isText ? factor + TEXT_FACTOR : factor)) + 1 + LIST_COST;
}

/** Two questions to the authorizer in one expression, and no more. */
const AUTHORIZATION_COST = 350_000;

/** A selector is read, and each of its requirements (two characters at least) is kept. */
function selectorCost(selector: CelValue | undefined): number {
  return LIST_COST + text(selector) + Math.ceil(Math.ceil(sizeOf(selector) / 2) * (LIST_COST + STRUCT_COST));
}

/** By function; anything else costs one. */
const BY_NAME: ReadonlyMap<string, (args: readonly CelValue[], result: CelValue) => number> = new Map<
  string,
  (args: readonly CelValue[], result: CelValue) => number
>([
  ["_==_", (args) => Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR)],
  ["_!=_", (args) => Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR)],
  ["_<_", (args) => (typeof args[0] === "string" ? Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR) : 1)],
  ["_<=_", (args) => (typeof args[0] === "string" ? Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR) : 1)],
  ["_>_", (args) => (typeof args[0] === "string" ? Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR) : 1)],
  ["_>=_", (args) => (typeof args[0] === "string" ? Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * TEXT_FACTOR) : 1)],
  ["_+_", (args) => (typeof args[0] === "string" ? Math.ceil((sizeOf(args[0]) + sizeOf(args[1])) * TEXT_FACTOR) : 1)],
  ["@in", (args) => (args[1] !== undefined && isList(args[1]) ? sizeOf(args[1]) : 1)],
  ["startsWith", (args) => text(args[0])],
  ["endsWith", (args) => text(args[0])],
  ["contains", (args) => text(args[0]) * text(args[1])],
  ["matches", (args) => regex(args[0], args[1])],
  ["find", (args) => regex(args[0], args[1])],
  ["findAll", (args) => regex(args[0], args[1])],
  ["format", (args) => text(args[0])],
  ["lowerAscii", (args) => text(args[0])],
  ["upperAscii", (args) => text(args[0])],
  ["substring", (args) => text(args[0])],
  ["trim", (args) => text(args[0])],
  ["replace", (args) => text(args[0], 2)],
  ["split", (args) => text(args[0], 2)],
  ["join", (_, result) => text(result, 2)],
  ["url", (args) => text(args[0])],
  ["cidr", (args) => text(args[0])],
  ["ip", (args) => text(args[0])],
  ["quantity", (args) => text(args[0])],
  ["semver", (args) => text(args[0])],
  ["isSorted", (args) => sizeOf(args[0])],
  ["sum", (args) => sizeOf(args[0])],
  ["max", (args) => sizeOf(args[0])],
  ["min", (args) => sizeOf(args[0])],
  ["indexOf", (args) => sizeOf(args[0])],
  ["lastIndexOf", (args) => sizeOf(args[0])],
  ["validate", (args) => regex(args[1], "x".repeat(128))],
  ["sort", (args) => compared(args, 2)],
  ["distinct", (args) => compared(args, 2)],
  ["@sortByAssociatedKeys", (args) => compared(args.slice(1), 2)],
  ["slice", (_, result) => sizeOf(result) + 1 + LIST_COST],
  ["reverse", (_, result) => sizeOf(result) + 1 + LIST_COST],
  ["flatten", (args) => sizeOf(args[0]) + 1 + LIST_COST],
  ["lists.range", (_, result) => sizeOf(result) + 1 + LIST_COST],
  ["sets.contains", (args) => 1 + sizeOf(args[0]) * sizeOf(args[1])],
  ["sets.intersects", (args) => 1 + sizeOf(args[0]) * sizeOf(args[1])],
  ["check", () => AUTHORIZATION_COST],
  ["fieldSelector", (args) => selectorCost(args[1])],
  ["labelSelector", (args) => selectorCost(args[1])],
  ["sets.equivalent", (args) => 1 + 2 * sizeOf(args[0]) * sizeOf(args[1])],
]);

export function actualCost(name: string, args: readonly CelValue[], result: CelValue): number {
  return BY_NAME.get(name)?.(args, result) ?? 1;
}
