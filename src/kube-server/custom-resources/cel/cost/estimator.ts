/**
 * What an expression can cost at most, before it runs: cel-go's estimate, node by node. The API server refuses a CRD whose rules
 * could cost too much on the largest object that its schema allows.
 */
import { ACCUMULATOR, type Call, type Comprehension, type Expression } from "../ast.ts";
import type { Checked } from "../checker.ts";
import { maxElementsAt, type DeclaredType } from "../declared-type.ts";
import type { CelType } from "../types.ts";
import { estimateCall } from "./call-estimates.ts";
import { fixed, LIST_COST, MAP_COST, MAX, NOTHING, ONE, product, STRUCT_COST, sum, union, UNKNOWN, type Range } from "./sizes.ts";

/** How large the keys (or indices) and the values of a list or map are. */
export type EntrySizes = { readonly container: "list" | "map"; readonly key: Range; readonly value: Range };

/** An operand as the estimates of calls see it. */
export type Operand = {
  readonly expression: Expression | undefined;
  readonly type: CelType;
  readonly path: readonly string[];
  readonly size: Range | undefined;
};

type Local = { readonly path: readonly string[]; readonly size: Range | undefined; readonly entries: EntrySizes | undefined };

export function estimateCost(checked: Checked, root: DeclaredType): Range {
  return new CostEstimator(checked, root).cost(checked.expression);
}

export class CostEstimator {
  readonly #checked: Checked;
  readonly #root: DeclaredType;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: Checked, root: DeclaredType) {
    this.#checked = checked;
    this.#root = root;
  }

  cost(node: Expression): Range {
    switch (node.kind) {
      case "constant":
        return NOTHING;
      case "identifier":
        this.#paths.set(node, this.#local(node.name)?.path ?? [node.name]);
        return ONE;
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "struct":
        return sum(...node.fields.map((field) => this.cost(field.value)), fixed(STRUCT_COST));
      case "comprehension":
        return isBinding(node) ? this.#binding(node) : this.#comprehension(node);
    }
  }

  #select(node: Extract<Expression, { kind: "select" }>): Range {
    const name = this.#checked.nameOf(node);
    if (name !== undefined) {
      this.#paths.set(node, [name]);
      return ONE;
    }
    const operand = this.cost(node.operand);
    if (node.testOnly) return operand;
    this.#paths.set(node, [...this.#path(node.operand), node.field]);
    const { kind } = this.#checked.typeOf(node.operand);
    return kind === "map" || kind === "struct" || kind === "parameter" ? sum(operand, ONE) : operand;
  }

  #call(node: Call): Range {
    if (node.name === "dyn" && node.args[0] !== undefined) return this.#dyn(node, node.args[0]);
    const argCosts = node.args.map((arg) => this.cost(arg));
    const args = node.args.map((arg) => this.#operand(arg));
    const isMember = node.target !== undefined && !this.#checked.isQualified(node);
    const targetCost = isMember && node.target !== undefined ? this.cost(node.target) : NOTHING;
    const target = isMember && node.target !== undefined ? this.#operand(node.target) : undefined;
    const overloads = this.#checked.overloadsOf(node);
    if (node.name === "_?._") return sum(...argCosts, ONE);
    if (overloads.length === 0) return NOTHING;
    let total: Range = { min: MAX, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = estimateCall(this, { node, overload: overload.id, target, args, argCosts });
      total = union(total, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      const indexed = this.#indexed(node, overload.id);
      if (indexed !== undefined) size = indexed.size;
      size ??= this.size(node);
    }
    if (size !== undefined) this.#sizes.set(node, size);
    return sum(targetCost, total);
  }

  /** The path goes on into what an index selects. */
  #indexed(node: Call, overload: string): { readonly size: Range | undefined } | undefined {
    const [container] = node.args;
    if (container === undefined || (overload !== "index_list" && overload !== "index_map")) return undefined;
    this.#paths.set(node, [...this.#path(container), overload === "index_list" ? "@items" : "@values"]);
    return { size: this.entries(container)?.value };
  }

  #dyn(node: Call, arg: Expression): Range {
    const cost = this.cost(arg);
    this.#copySizes(node, arg);
    return sum(ONE, cost);
  }

  #list(node: Extract<Expression, { kind: "list" }>): Range {
    let cost = NOTHING;
    let size: Range = { min: node.items.length === 0 ? 0 : MAX, max: 0 };
    for (const { value } of node.items) {
      cost = sum(cost, this.cost(value));
      size = union(size, this.sizeOrUnknown(value));
    }
    this.setEntries(node, { container: "list", key: ONE, value: size });
    return sum(cost, fixed(LIST_COST));
  }

  #map(node: Extract<Expression, { kind: "map" }>): Range {
    let cost = NOTHING;
    const min = node.entries.length === 0 ? 0 : MAX;
    let key: Range = { min, max: 0 };
    let value: Range = { min, max: 0 };
    for (const entry of node.entries) {
      cost = sum(cost, this.cost(entry.key), this.cost(entry.value));
      key = union(key, this.sizeOrUnknown(entry.key));
      value = union(value, this.sizeOrUnknown(entry.value));
    }
    this.setEntries(node, { container: "map", key, value });
    return sum(cost, fixed(MAP_COST));
  }

  #comprehension(node: Comprehension): Range {
    const before = sum(this.cost(node.range), this.cost(node.start));
    this.#push(node.accumulator, { path: this.#path(node.start), size: this.size(node.start), entries: this.entries(node.start) });
    this.#pushVariables(node);
    const each = sum(this.cost(node.condition), this.cost(node.step));
    this.#pop(node.variable);
    if (node.variable2 !== undefined) this.#pop(node.variable2);
    const after = this.cost(node.result);
    this.#pop(node.accumulator);
    const count = this.sizeOrUnknown(node.range);
    this.#sizeOfResult(node, count);
    return sum(before, after, product(count, each));
  }

  #sizeOfResult(node: Comprehension, count: Range): void {
    if (node.start.kind === "constant") {
      const size = this.size(node.start);
      if (size !== undefined) this.#sizes.set(node, size);
    } else if (node.start.kind === "list" || node.start.kind === "map") {
      this.#sizes.set(node, count);
      this.setEntries(node, this.entries(node.step));
    }
  }

  #pushVariables(node: Comprehension): void {
    const entries = this.entries(node.range);
    const isList = (entries?.container ?? this.#checked.typeOf(node.range).kind) === "list";
    const path = this.#path(node.range);
    const first = { path: [...path, isList ? "@indices" : "@keys"], size: entries?.key, entries: undefined };
    const second = { path: [...path, isList ? "@items" : "@values"], size: entries?.value, entries: undefined };
    if (node.variable2 === undefined) return this.#push(node.variable, isList ? second : first);
    this.#push(node.variable, first);
    this.#push(node.variable2, second);
  }

  #binding(node: Comprehension): Range {
    const before = sum(this.cost(node.range), this.cost(node.start));
    this.#push(node.accumulator, { path: this.#path(node.start), size: this.size(node.start), entries: this.entries(node.start) });
    const after = this.cost(node.result);
    this.#pop(node.accumulator);
    this.#copySizes(node, node.result);
    return sum(before, after);
  }

  #operand(node: Expression): Operand {
    const path = this.#path(node);
    return { expression: node, type: this.#checked.typeOf(node), path: path[0] === ACCUMULATOR ? [] : path, size: this.size(node) };
  }

  /** The size that the schema allows at this path; undefined when the path leads nowhere. */
  sizeAt(path: readonly string[]): Range | undefined {
    if (path.length === 0) return undefined;
    const max = maxElementsAt(this.#root, path.slice(1));
    return max === undefined ? undefined : { min: 0, max };
  }

  size(node: Expression): Range | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node);
    if (known !== undefined) return known;
    const declared = this.sizeAt(this.#path(node));
    if (declared !== undefined) {
      this.#sizes.set(node, declared);
      return declared;
    }
    if (isScalar(this.#checked.typeOf(node))) return ONE;
    return node.kind === "identifier" ? this.#local(node.name)?.size : undefined;
  }

  sizeOrUnknown(node: Expression): Range {
    return this.size(node) ?? UNKNOWN;
  }

  entries(node: Expression): EntrySizes | undefined {
    return this.#entries.get(node) ?? (node.kind === "identifier" ? this.#local(node.name)?.entries : undefined);
  }

  setEntries(node: Expression, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(node, entries);
  }

  #copySizes(to: Expression, from: Expression): void {
    const size = this.size(from);
    if (size !== undefined) this.#sizes.set(to, size);
    this.setEntries(to, this.entries(from));
  }

  #path(node: Expression): readonly string[] {
    const local = node.kind === "identifier" ? this.#local(node.name) : undefined;
    return local?.path ?? this.#paths.get(node) ?? [];
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
  }

  #pop(name: string): void {
    this.#locals.set(name, (this.#locals.get(name) ?? []).slice(0, -1));
  }
}

/** A loop over nothing: how macros bind a name to a value. */
function isBinding(node: Comprehension): boolean {
  const neverRuns = node.condition.kind === "constant" && node.condition.value === false;
  return node.range.kind === "list" && node.range.items.length === 0 && neverRuns && node.accumulator !== ACCUMULATOR;
}

function literalSize(node: Expression): Range | undefined {
  if (node.kind === "list") return fixed(node.items.length);
  if (node.kind === "map") return fixed(node.entries.length);
  if (node.kind !== "constant") return undefined;
  if (typeof node.value === "string") return fixed([...node.value].length);
  return fixed(node.value instanceof Uint8Array ? node.value.length : 1);
}

function isScalar(type: CelType): boolean {
  if (["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind)) return true;
  const [inner] = type.parameters;
  return type.kind === "opaque" && type.name === "optional_type" && inner !== undefined && isScalar(inner);
}
