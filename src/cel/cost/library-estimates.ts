/** The estimated cost of calls of Kubernetes' libraries, and of the list and set extensions. */
import { sameType, type CelType } from "../types.ts";
import type { CallEstimate, EstimatedCall } from "./call-estimates.ts";
import type { KnownSizes, Operand } from "./known-sizes.ts";
import { fixed, LIST_COST, MAX, NOTHING, ONE, product, REGEX_FACTOR, scaled, sum, TEXT_FACTOR, UNKNOWN, type Range } from "./sizes.ts";

export function libraryEstimate(sizes: KnownSizes, site: EstimatedCall): CallEstimate | undefined {
  return listEstimate(sizes, site) ?? kubernetesEstimate(sizes, site);
}

/** For operands without a computed size, the size that the schema declares. */
function declaredSize(sizes: KnownSizes, operand: Operand | undefined): Range {
  return operand?.size ?? (operand === undefined ? undefined : sizes.sizeAt(operand.path)) ?? UNKNOWN;
}

function listEstimate(sizes: KnownSizes, site: EstimatedCall): CallEstimate | undefined {
  const size = declaredSize(sizes, site.target);
  const list = (factor: number, of: Range): CallEstimate => ({ cost: sum(scaled(of, factor), ONE, fixed(LIST_COST)), size: of });
  const { overload, args } = site;
  if (overload === "list_slice") return list(1, fixed(difference(intOf(args[1], size.max), intOf(args[0], 0))));
  if (overload === "lists_range") return list(1, fixed(intOf(args[0], MAX)));
  if (overload === "list_reverse") return list(1, size);
  if (overload === "list_flatten") return list(1, size);
  if (overload === "list_flatten_int") return list(intOf(args[0], MAX), size);
  if (overload === "list_distinct") return list(2, product(size, size));
  const sorted = /^list_(\w+)_sort(ByAssociatedKeys)?$/.exec(overload);
  if (sorted !== null) {
    const of = sorted[2] === undefined ? size : declaredSize(sizes, args[0]);
    return list(sorted[1] === "string" || sorted[1] === "bytes" ? 2 + TEXT_FACTOR : 2, product(of, of));
  }
  if (!overload.startsWith("list_sets_")) return undefined;
  const pairs = product(declaredSize(sizes, args[0]), declaredSize(sizes, args[1]));
  return { cost: sum(scaled(pairs, overload === "list_sets_equivalent_list" ? 2 : 1), ONE) };
}

/** Unsigned, as in Go: a negative result is a very large number. */
function difference(end: number, start: number): number {
  return end < start ? MAX : end - start;
}

function intOf(operand: Operand | undefined, otherwise: number): number {
  const node = operand?.expression;
  return node?.kind === "constant" && typeof node.value === "bigint" ? Math.max(0, Number(node.value)) : otherwise;
}

const CONSTANT = new Set(
  (
    "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger " +
    "isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery"
  ).split(" "),
);
const READS_ARGUMENT = new Set("cidr isIP isCIDR quantity isQuantity semver isSemver".split(" "));

function kubernetesEstimate(sizes: KnownSizes, site: EstimatedCall): CallEstimate | undefined {
  const { target, args, overload } = site;
  const name = qualified(site);
  const first = declaredSize(sizes, args[0]);
  const own = declaredSize(sizes, target);
  if (CONSTANT.has(name)) return { cost: ONE };
  if (READS_ARGUMENT.has(name) && args.length > 0) return { cost: scaled(first, TEXT_FACTOR) };
  switch (name) {
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      return target === undefined ? undefined : { cost: traversal(sizes, target, own) };
    case "url":
      return { cost: scaled(first, TEXT_FACTOR), size: first };
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
      return target === undefined ? undefined : { cost: scaled(own, TEXT_FACTOR), size: own };
    case "replace":
      return { cost: scaled(own, 2 * TEXT_FACTOR), size: replacedSize(own, first, declaredSize(sizes, args[1])) };
    case "split":
      return { cost: scaled(own, 2 * TEXT_FACTOR), size: { min: 0, max: args.length > 1 ? intOf(args[1], own.max) : own.max } };
    case "join":
      return target === undefined ? undefined : joinEstimate(sizes, target, own, args[0]);
    case "find":
    case "findAll":
      return { cost: product(scaled(sum(own, ONE), TEXT_FACTOR), scaled(first, REGEX_FACTOR)), size: { min: 0, max: own.max } };
    case "ip":
      return { cost: overload === "cidr_ip" ? ONE : scaled(first, TEXT_FACTOR) };
    case "ip.isCanonical":
      return { cost: scaled(first, 2 * TEXT_FACTOR) };
    case "containsIP":
    case "containsCIDR":
      return { cost: containment(name, overload, first) };
    case "validate":
      return { cost: scaled(scaled(first, TEXT_FACTOR), 128 * REGEX_FACTOR) };
    case "_==_":
      return equalityEstimate(args[0]?.type, args[1]?.type);
    default:
      return undefined;
  }
}

function qualified(site: EstimatedCall): string {
  const { node } = site;
  const prefix = node.target?.kind === "identifier" ? node.target.name : undefined;
  return site.target === undefined && prefix !== undefined ? `${prefix}.${node.name}` : node.name;
}

function elementOf(target: Operand): Operand | undefined {
  const [type] = target.type.parameters;
  return type === undefined
    ? undefined
    : { expression: undefined, type, path: target.path.length === 0 ? [] : [...target.path, "@items"], size: undefined };
}

function traversal(sizes: KnownSizes, target: Operand, size: Range): Range {
  const element = elementOf(target);
  if (element === undefined) return scaled(size, TEXT_FACTOR);
  const isText = element.type.kind === "string" || element.type.kind === "bytes";
  return product(size, isText ? sum(ONE, scaled(declaredSize(sizes, element), TEXT_FACTOR)) : ONE);
}

function joinEstimate(sizes: KnownSizes, target: Operand, list: Range, separator: Operand | undefined): CallEstimate {
  const element = elementOf(target);
  const texts = element === undefined ? NOTHING : product(list, declaredSize(sizes, element));
  const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
  const size = separator === undefined ? texts : sum(texts, product(declaredSize(sizes, separator), gaps));
  return { cost: scaled(size, TEXT_FACTOR), size };
}

function replacedSize(text: Range, old: Range, next: Range): Range {
  const most = old.min === 0 ? text.max + 1 : next.max <= old.min ? 0 : Math.ceil(text.max / old.min);
  const keptMost = old.min === 0 || next.max <= old.min ? text.max : 0;
  const least = old.max === 0 ? text.min + 1 : old.max <= next.min ? 0 : Math.ceil(text.min / old.max);
  const keptLeast = old.max === 0 || old.max <= next.min ? text.min : 0;
  return sum(product({ min: least, max: most }, next), { min: keptLeast, max: keptMost });
}

function containment(name: string, overload: string, argument: Range): Range {
  const address: Range = { min: 4, max: 16 };
  const compare = scaled(sum(address, address), TEXT_FACTOR);
  const extra = name === "containsCIDR" ? sum(scaled(address, TEXT_FACTOR), ONE) : NOTHING;
  return sum(compare, extra, overload.endsWith("_string") ? scaled(argument, TEXT_FACTOR) : NOTHING);
}

const CHEAP_EQUALITY = new Set(["net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"]);

function equalityEstimate(left: CelType | undefined, right: CelType | undefined): CallEstimate | undefined {
  if (left === undefined || right === undefined || !sameType(left, right)) return undefined;
  if (CHEAP_EQUALITY.has(left.name)) return { cost: ONE };
  if (left.name === "kubernetes.NamedFormat") return { cost: scaled({ min: 1, max: 64 }, TEXT_FACTOR) };
  return left.name === "kubernetes.URL" ? { cost: ONE } : undefined;
}
