/**
 * The largest possible cost of an expression, before it runs: cel-go's estimate, node by node. The API server refuses a CRD whose rules could
 * cost too much on the largest object that its schema allows.
 */
import { ACCUMULATOR, type Call, type Comprehension, type Expression } from "../ast.ts";
import type { Checked } from "../checked.ts";
import type { DeclaredType } from "../declared-type.ts";
import { estimateCall } from "./call-estimates.ts";
import { KnownSizes } from "./known-sizes.ts";
import { fixed, LIST_COST, MAP_COST, MAX, NOTHING, ONE, product, STRUCT_COST, sum, union, type Range } from "./sizes.ts";

export function estimateCost(checked: Checked, root: DeclaredType): Range {
  return new CostEstimator(checked, root).cost(checked.expression);
}

class CostEstimator {
  readonly sizes: KnownSizes;
  readonly #checked: Checked;

  constructor(checked: Checked, root: DeclaredType) {
    this.#checked = checked;
    this.sizes = new KnownSizes(checked, root);
  }

  cost(node: Expression): Range {
    switch (node.kind) {
      case "constant":
        return NOTHING;
      case "identifier":
        this.sizes.setPath(node, this.sizes.local(node.name)?.path ?? [node.name]);
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
      this.sizes.setPath(node, [name]);
      return ONE;
    }
    const operand = this.cost(node.operand);
    if (node.testOnly) return operand;
    this.sizes.setPath(node, [...this.sizes.path(node.operand), node.field]);
    const { kind } = this.#checked.typeOf(node.operand);
    return kind === "map" || kind === "struct" || kind === "parameter" ? sum(operand, ONE) : operand;
  }

  #call(node: Call): Range {
    if (node.name === "dyn" && node.args[0] !== undefined) return this.#dyn(node, node.args[0]);
    const argCosts = node.args.map((arg) => this.cost(arg));
    const args = node.args.map((arg) => this.sizes.operand(arg));
    const isMember = node.target !== undefined && !this.#checked.isQualified(node);
    const targetCost = isMember && node.target !== undefined ? this.cost(node.target) : NOTHING;
    const target = isMember && node.target !== undefined ? this.sizes.operand(node.target) : undefined;
    const overloads = this.#checked.overloadsOf(node);
    if (node.name === "_?._") return sum(...argCosts, ONE);
    if (overloads.length === 0) return NOTHING;
    let total: Range = { min: MAX, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = estimateCall(this.sizes, { node, overload: overload.id, target, args, argCosts });
      total = union(total, estimate.cost);
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size);
      const indexed = this.#indexed(node, overload.id);
      if (indexed !== undefined) size = indexed.size;
      size ??= this.sizes.size(node);
    }
    this.sizes.setSize(node, size);
    return sum(targetCost, total);
  }

  /** The path continues with the selected element. */
  #indexed(node: Call, overload: string): { readonly size: Range | undefined } | undefined {
    const [container] = node.args;
    if (container === undefined || (overload !== "index_list" && overload !== "index_map")) return undefined;
    this.sizes.setPath(node, [...this.sizes.path(container), overload === "index_list" ? "@items" : "@values"]);
    return { size: this.sizes.entries(container)?.value };
  }

  #dyn(node: Call, arg: Expression): Range {
    const cost = this.cost(arg);
    this.sizes.copySizes(node, arg);
    return sum(ONE, cost);
  }

  #list(node: Extract<Expression, { kind: "list" }>): Range {
    let cost = NOTHING;
    let size: Range = { min: node.items.length === 0 ? 0 : MAX, max: 0 };
    for (const { value } of node.items) {
      cost = sum(cost, this.cost(value));
      size = union(size, this.sizes.sizeOrUnknown(value));
    }
    this.sizes.setEntries(node, { container: "list", key: ONE, value: size });
    return sum(cost, fixed(LIST_COST));
  }

  #map(node: Extract<Expression, { kind: "map" }>): Range {
    let cost = NOTHING;
    const min = node.entries.length === 0 ? 0 : MAX;
    let key: Range = { min, max: 0 };
    let value: Range = { min, max: 0 };
    for (const entry of node.entries) {
      cost = sum(cost, this.cost(entry.key), this.cost(entry.value));
      key = union(key, this.sizes.sizeOrUnknown(entry.key));
      value = union(value, this.sizes.sizeOrUnknown(entry.value));
    }
    this.sizes.setEntries(node, { container: "map", key, value });
    return sum(cost, fixed(MAP_COST));
  }

  #comprehension(node: Comprehension): Range {
    const before = sum(this.cost(node.range), this.cost(node.start));
    this.sizes.push(node.accumulator, {
      path: this.sizes.path(node.start),
      size: this.sizes.size(node.start),
      entries: this.sizes.entries(node.start),
    });
    this.#pushVariables(node);
    const each = sum(this.cost(node.condition), this.cost(node.step));
    this.sizes.pop(node.variable);
    if (node.variable2 !== undefined) this.sizes.pop(node.variable2);
    const after = this.cost(node.result);
    this.sizes.pop(node.accumulator);
    const count = this.sizes.sizeOrUnknown(node.range);
    this.#sizeOfResult(node, count);
    return sum(before, after, product(count, each));
  }

  #sizeOfResult(node: Comprehension, count: Range): void {
    if (node.start.kind === "constant") {
      this.sizes.setSize(node, this.sizes.size(node.start));
    } else if (node.start.kind === "list" || node.start.kind === "map") {
      this.sizes.setSize(node, count);
      this.sizes.setEntries(node, this.sizes.entries(node.step));
    }
  }

  #pushVariables(node: Comprehension): void {
    const entries = this.sizes.entries(node.range);
    const isList = (entries?.container ?? this.#checked.typeOf(node.range).kind) === "list";
    const path = this.sizes.path(node.range);
    const first = { path: [...path, isList ? "@indices" : "@keys"], size: entries?.key, entries: undefined };
    const second = { path: [...path, isList ? "@items" : "@values"], size: entries?.value, entries: undefined };
    if (node.variable2 === undefined) return this.sizes.push(node.variable, isList ? second : first);
    this.sizes.push(node.variable, first);
    this.sizes.push(node.variable2, second);
  }

  #binding(node: Comprehension): Range {
    const before = sum(this.cost(node.range), this.cost(node.start));
    this.sizes.push(node.accumulator, {
      path: this.sizes.path(node.start),
      size: this.sizes.size(node.start),
      entries: this.sizes.entries(node.start),
    });
    const after = this.cost(node.result);
    this.sizes.pop(node.accumulator);
    this.sizes.copySizes(node, node.result);
    return sum(before, after);
  }
}

/** A loop over an empty list: the form in which macros bind a name to a value. */
function isBinding(node: Comprehension): boolean {
  const neverRuns = node.condition.kind === "constant" && node.condition.value === false;
  return node.range.kind === "list" && node.range.items.length === 0 && neverRuns && node.accumulator !== ACCUMULATOR;
}
