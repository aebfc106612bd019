/** The estimated cost of calls: those of the language itself here, those of the libraries in library-estimates.ts. */
import type { Call } from "../ast.ts";
import type { KnownSizes, Operand } from "./known-sizes.ts";
import { libraryEstimate } from "./library-estimates.ts";
import { fixed, MAX, NOTHING, ONE, product, REGEX_FACTOR, scaled, sum, TEXT_FACTOR, union, UNKNOWN, type Range } from "./sizes.ts";

export type EstimatedCall = {
  readonly node: Call;
  readonly overload: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
  readonly argCosts: readonly Range[];
};

export type CallEstimate = { readonly cost: Range; readonly size?: Range | undefined };

export function estimateCall(sizes: KnownSizes, site: EstimatedCall): CallEstimate {
  const own = libraryEstimate(sizes, site);
  if (own !== undefined) return { cost: sum(own.cost, ...site.argCosts), size: own.size };
  return standardEstimate(sizes, site);
}

const sizeOf = (operand: Operand | undefined): Range => operand?.size ?? UNKNOWN;

const COMPARES_TEXT = /^(?:less|less_equals|greater|greater_equals)_(?:string|bytes)$|^equals$|^not_equals$/;

function standardEstimate(sizes: KnownSizes, site: EstimatedCall): CallEstimate {
  const { overload, target, args, argCosts, node } = site;
  const [first, second, third] = args;
  const argCost = sum(...argCosts);
  const text = (operand: Operand | undefined): Range => scaled(sizeOf(operand), TEXT_FACTOR);
  if (COMPARES_TEXT.test(overload)) {
    const max = Math.min(sizeOf(first).max, sizeOf(second).max);
    return { cost: sum(scaled({ min: max > 0 ? 1 : 0, max }, TEXT_FACTOR), argCost) };
  }
  switch (overload) {
    case "string_format":
      return { cost: sum(text(target), argCost) };
    case "string_to_bytes":
      return { cost: sum(text(first), argCost), size: { min: sizeOf(first).min, max: Math.min(MAX, sizeOf(first).max * 4) } };
    case "bytes_to_string":
      return { cost: sum(text(first), argCost), size: { min: sizeOf(first).min / 4, max: sizeOf(first).max } };
    case "strings_quote":
      return { cost: sum(text(first), argCost), size: sum(product(sizeOf(first), { min: 1, max: 2 }), fixed(2)) };
    case "starts_with_string":
    case "ends_with_string":
      return { cost: sum(text(first), argCost) };
    case "in_list":
      return { cost: sum(sizeOf(second), argCost) };
    case "matches_string":
      return { cost: sum(product(scaled(sum(sizeOf(target), ONE), TEXT_FACTOR), scaled(sizeOf(first), REGEX_FACTOR)), argCost) };
    case "contains_string":
      return { cost: sum(product(text(target), text(first)), argCost) };
    case "logical_or":
    case "logical_and":
      return { cost: { min: argCosts[0]?.min ?? 0, max: argCost.max } };
    case "conditional":
      if (first === undefined || second?.expression === undefined || third?.expression === undefined) break;
      sizes.setEntries(node, unionOfEntries(sizes, second.expression, third.expression));
      return {
        cost: sum(argCosts[0] ?? NOTHING, union(argCosts[1] ?? NOTHING, argCosts[2] ?? NOTHING)),
        size: union(sizeOf(second), sizeOf(third)),
      };
    case "add_string":
    case "add_bytes":
    case "add_list": {
      const size = sum(sizeOf(first), sizeOf(second));
      if (first?.expression !== undefined && second?.expression !== undefined) {
        sizes.setEntries(node, unionOfEntries(sizes, first.expression, second.expression));
      }
      return { cost: sum(overload === "add_list" ? ONE : scaled(size, TEXT_FACTOR), argCost), size };
    }
  }
  return { cost: sum(ONE, argCost) };
}

function unionOfEntries(
  sizes: KnownSizes,
  a: NonNullable<Operand["expression"]>,
  b: NonNullable<Operand["expression"]>,
): ReturnType<KnownSizes["entries"]> {
  const [left, right] = [sizes.entries(a), sizes.entries(b)];
  return left === undefined || right === undefined
    ? undefined
    : { container: left.container, key: union(left.key, right.key), value: union(left.value, right.value) };
}
