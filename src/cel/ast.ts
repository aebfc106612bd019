/**
 * An expression as a tree. Macros are expanded while parsing: `all`, `map` and their kin are `comprehension` nodes, as in cel-go,
 * because types and costs are defined on that form.
 *
 * `at` is an offset into the source in code points: of the operator, the dot or the opening bracket, not of the whole expression.
 */
import type { CelConstant } from "./values.ts";

export type Expression =
  | { readonly kind: "constant"; readonly at: number; readonly value: CelConstant }
  | { readonly kind: "identifier"; readonly at: number; readonly name: string }
  | { readonly kind: "select"; readonly at: number; readonly operand: Expression; readonly field: string; readonly testOnly: boolean }
  | Call
  | { readonly kind: "list"; readonly at: number; readonly items: readonly ListItem[] }
  | { readonly kind: "map"; readonly at: number; readonly entries: readonly MapEntry[] }
  | { readonly kind: "struct"; readonly at: number; readonly name: string; readonly fields: readonly StructField[] }
  | Comprehension;

export type Call = {
  readonly kind: "call";
  readonly at: number;
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
};

export type ListItem = { readonly value: Expression; readonly optional: boolean };
export type MapEntry = { readonly at: number; readonly key: Expression; readonly value: Expression; readonly optional: boolean };
export type StructField = { readonly at: number; readonly name: string; readonly value: Expression; readonly optional: boolean };

export type Comprehension = {
  readonly kind: "comprehension";
  readonly at: number;
  readonly range: Expression;
  readonly variable: string;
  /** Of two-variable forms: `variable` is then the index or key, this the value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly start: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
};

/** The accumulator's name in expanded macros; it is no valid identifier in a source. */
export const ACCUMULATOR = "@result";

export function call(at: number, name: string, ...args: readonly Expression[]): Call {
  return { kind: "call", at, name, target: undefined, args };
}

/** "a.b.c" when the expression consists of names and dots only. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === "identifier") return expression.name;
  if (expression.kind !== "select" || expression.testOnly) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

/** The children of a node, in the order of the source. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "constant":
    case "identifier":
      return [];
    case "select":
      return [node.operand];
    case "call":
      return node.target === undefined ? node.args : [node.target, ...node.args];
    case "list":
      return node.items.map(({ value }) => value);
    case "map":
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return node.fields.map(({ value }) => value);
    case "comprehension":
      return [node.range, node.start, node.condition, node.step, node.result];
  }
}
