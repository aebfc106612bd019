/**
 * Errors in literals that are found at the admission of a CRD: invalid regular expressions, durations and times, lists and maps of mixed types,
 * formats that do not match their arguments.
 */
import { childrenOf, type Call, type Expression, type ListItem, type MapEntry } from "./ast.ts";
import type { Checked } from "./checked.ts";
import { runOverload } from "./declarations.ts";
import { checkFormat } from "./library/string-format.ts";
import { Meter } from "./meter.ts";
import { formatType, sameType, type CelType } from "./types.ts";
import { parseStrictDuration } from "./formats/durations.ts";
import { compileRegex } from "./formats/regex.ts";
import { parseTimestamp } from "./formats/timestamps.ts";
import type { Issue } from "./source.ts";
import { CelFailure } from "./values.ts";

type Check = { readonly argument: (call: Call) => Expression | undefined; readonly isValid: (text: string) => boolean };

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["duration", { argument: (call) => call.args[0], isValid: (text) => parseStrictDuration(text) !== undefined }],
  ["timestamp", { argument: (call) => call.args[0], isValid: (text) => parseTimestamp(text).error === undefined }],
  ["matches", { argument: (call) => call.args.at(-1), isValid: (text) => compileRegex(text).ok }],
]);

export function literalIssues(checked: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  visit(checked.expression, false, (node, isFormatted) => {
    if (node.kind === "call") issues.push(...callIssues(node, checked));
    else if (!isFormatted && node.kind === "list") issues.push(...mixedItems(node.items, checked).slice(0, 1));
    else if (!isFormatted && node.kind === "map") issues.push(...mixedEntries(node.entries, checked));
  });
  return issues;
}

/** A cost above that of the conversion of any constant. */
const CONSTANT_COST = 1_000_000;
const CONVERSIONS = new Set(["bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"]);

/** The conversion of a constant is evaluated at compilation; a failure is a compile error. */
export function brokenConversion(checked: Checked): string | undefined {
  let problem: string | undefined;
  visit(checked.expression, false, (node) => {
    if (node.kind !== "call" || node.target !== undefined || !CONVERSIONS.has(node.name)) return;
    const [arg] = node.args;
    const overload = checked.overloadsOf(node)[0];
    if (arg?.kind !== "constant" || overload === undefined) return;
    const result = runOverload(overload, [arg.value], new Meter(CONSTANT_COST));
    if (result instanceof CelFailure) problem ??= result.message;
  });
  return problem;
}

function callIssues(node: Call, checked: Checked): readonly Issue[] {
  const check = CHECKS.get(node.name);
  const literal = check?.argument(node);
  if (literal?.kind === "constant" && typeof literal.value === "string" && check?.isValid(literal.value) === false) {
    return [{ at: literal.at, message: `invalid ${node.name} argument` }];
  }
  const [args] = node.args;
  const template = node.name === "format" && node.target?.kind === "constant" ? node.target.value : undefined;
  if (typeof template !== "string" || args?.kind !== "list") return [];
  return formatIssues(
    node,
    template,
    args.items.map((item) => item.value),
    checked,
  );
}

function formatIssues(node: Call, template: string, args: readonly Expression[], checked: Checked): readonly Issue[] {
  const problem = checkFormat(
    template,
    args.map((arg) => checked.typeOf(arg)),
  );
  return problem === undefined
    ? []
    : [{ at: (problem.argument === undefined ? undefined : args[problem.argument])?.at ?? node.at, message: problem.message }];
}

function mixedItems(items: readonly ListItem[], checked: Checked): readonly Issue[] {
  return mismatches(items.map((item) => ({ node: item.value, type: unwrapped(item, checked) })));
}

function mixedEntries(entries: readonly MapEntry[], checked: Checked): readonly Issue[] {
  return [
    ...mismatches(entries.map((entry) => ({ node: entry.key, type: checked.typeOf(entry.key) }))),
    ...mismatches(entries.map((entry) => ({ node: entry.value, type: unwrapped(entry, checked) }))),
  ];
}

function unwrapped(element: { readonly value: Expression; readonly optional: boolean }, checked: Checked): CelType {
  const type = checked.typeOf(element.value);
  return element.optional ? (type.parameters[0] ?? type) : type;
}

function mismatches(elements: readonly { readonly node: Expression; readonly type: CelType }[]): readonly Issue[] {
  const [first] = elements;
  if (first === undefined) return [];
  const others = elements.filter((element) => !sameType(element.type, first.type));
  return others.map(({ node, type }) => ({
    at: node.at,
    message: `expected type '${formatType(first.type)}' but found '${formatType(type)}'`,
  }));
}

/** `isFormatted`: an argument of `format`, where types may be mixed. */
function visit(node: Expression, isFormatted: boolean, see: (node: Expression, isFormatted: boolean) => void): void {
  see(node, isFormatted);
  const below = isFormatted || (node.kind === "call" && node.name === "format");
  for (const child of childrenOf(node)) visit(child, below, see);
}
