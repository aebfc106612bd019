/** Mistakes in literals that are found when the CRD is admitted: regular expressions, durations and times that are none. */
import type { Call, Expression } from "./ast.ts";
import type { Checked } from "./checker.ts";
import { parseStrictDuration } from "../validation/durations.ts";
import { compileRegex } from "../validation/regex.ts";
import { parseTimestamp } from "../validation/timestamps.ts";
import type { Issue } from "./source.ts";

type Check = { readonly argument: (call: Call) => Expression | undefined; readonly isValid: (text: string) => boolean };

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["duration", { argument: (call) => call.args[0], isValid: (text) => parseStrictDuration(text) !== undefined }],
  ["timestamp", { argument: (call) => call.args[0], isValid: (text) => parseTimestamp(text).error === undefined }],
  ["matches", { argument: (call) => call.args.at(-1), isValid: (text) => compileRegex(text).ok }],
]);

export function literalIssues(checked: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  visit(checked.expression, (node) => {
    const check = node.kind === "call" ? CHECKS.get(node.name) : undefined;
    if (check === undefined || node.kind !== "call") return;
    const literal = check.argument(node);
    if (literal?.kind === "constant" && typeof literal.value === "string" && !check.isValid(literal.value)) {
      issues.push({ at: literal.at, message: `invalid ${node.name} argument` });
    }
  });
  return issues;
}

function visit(node: Expression, see: (node: Expression) => void): void {
  see(node);
  for (const below of childrenOf(node)) visit(below, see);
}

function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "constant":
    case "identifier":
      return [];
    case "select":
      return [node.operand];
    case "call":
      return node.target === undefined ? node.args : [node.target, ...node.args];
    case "list":
      return node.items.map((item) => item.value);
    case "map":
      return node.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return node.fields.map((field) => field.value);
    case "comprehension":
      return [node.range, node.start, node.condition, node.step, node.result];
  }
}
