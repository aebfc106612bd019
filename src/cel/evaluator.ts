/**
 * Evaluates a checked expression. It is compiled to closures once; an evaluation then needs no lookups by name.
 *
 * Every step is charged to a meter first (meter.ts). When a limit is reached, the evaluation ends with a failure that `||` and `&&` do not
 * absorb.
 */
import { GrowingList } from "./accumulators.ts";
import { ACCUMULATOR, childrenOf, type Call, type Comprehension, type Expression } from "./ast.ts";
import type { Checked } from "./checked.ts";
import { LIST_COST, MAP_COST, STRUCT_COST } from "./cost/sizes.ts";
import { mapOf } from "./maps.ts";
import { Meter, type Effort } from "./meter.ts";
import { conditional, hasField, invoke, logical, notStrictlyFalse, runLoop, selectField, type Step, type VariableValues } from "./steps.ts";
import {
  CelFailure,
  CelOptional,
  CelStruct,
  CelTypeValue,
  failure,
  isMap,
  constantList,
  listOf,
  NO_SUCH_OVERLOAD,
  NONE,
  type CelValue,
} from "./values.ts";

export type Run = { readonly value: CelValue; readonly cost: number };
/** In addition to the limit of the program itself; the work of the run counts for an effort that it may share with others. */
export type RunLimits = { readonly cost?: number; readonly effort?: Effort };
export type Program = (variables: VariableValues, limits?: RunLimits) => Run;

export function planProgram(checked: Checked, limit: number): Program {
  const planner = new Planner(checked);
  const step = planner.plan(checked.expression, new Map());
  return (variables, { cost = limit, effort } = {}) => {
    const meter = new Meter(Math.min(limit, cost), effort);
    const frame = { meter, variables, slots: planner.slots === 0 ? [] : Array.from({ length: planner.slots }, () => null) };
    const value = meter.nested(planner.depth, () => step(frame));
    meter.settle();
    return { value, cost: meter.cost };
  };
}

type Scope = ReadonlyMap<string, number>;

class Planner {
  slots = 0;
  /** The nesting depth of the steps. */
  depth = 0;
  #planning = 0;
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  plan(node: Expression, scope: Scope): Step {
    this.#planning += 1;
    this.depth = Math.max(this.depth, this.#planning);
    const step = this.#planNode(node, scope);
    this.#planning -= 1;
    return step;
  }

  #planNode(node: Expression, scope: Scope): Step {
    switch (node.kind) {
      case "constant": {
        const { value } = node;
        return () => value;
      }
      case "identifier":
        return this.#identifier(node, node.name, scope);
      case "select":
        return this.#select(node, scope);
      case "call":
        return this.#call(node, scope);
      case "list":
        return this.#list(node, scope);
      case "map":
        return this.#map(node, scope);
      case "struct":
        return this.#struct(node, scope);
      case "comprehension":
        return this.#comprehension(node, scope);
    }
  }

  #identifier(node: Expression, name: string, scope: Scope): Step {
    const slot = scope.get(name);
    if (slot !== undefined) return (frame) => frame.meter.pay(1) ?? frame.slots[slot] ?? null;
    const type = this.#checked.typeOf(node);
    const [named] = type.parameters;
    if (type.kind === "type" && named !== undefined) {
      const value = new CelTypeValue(named);
      return (frame) => frame.variables.get(name) ?? value;
    }
    return (frame) => {
      const value = frame.variables.get(name);
      return frame.meter.pay(1) ?? (value === undefined ? failure(`no such attribute(s): ${name}`) : value);
    };
  }

  #select(node: Extract<Expression, { kind: "select" }>, scope: Scope): Step {
    const name = this.#checked.nameOf(node);
    if (name !== undefined) return this.#identifier(node, name, scope);
    const operand = this.plan(node.operand, scope);
    const { field, testOnly } = node;
    return (frame) => {
      const target = operand(frame);
      if (target instanceof CelFailure) return target;
      const spent = testOnly ? undefined : frame.meter.pay(1);
      return spent ?? (testOnly ? hasField(target, field) : selectField(target, field));
    };
  }

  #call(node: Call, scope: Scope): Step {
    const [first, second, third] = node.args;
    if (node.name === "_?._" && first !== undefined && second?.kind === "constant" && typeof second.value === "string") {
      return this.#optionalSelect(first, second.value, scope);
    }
    if (node.name === "@not_strictly_false" && first !== undefined) return notStrictlyFalse(this.plan(first, scope));
    if (node.name === "_?_:_" && first !== undefined && second !== undefined && third !== undefined) {
      return conditional(this.plan(first, scope), this.plan(second, scope), this.plan(third, scope));
    }
    if ((node.name === "_&&_" || node.name === "_||_") && first !== undefined && second !== undefined) {
      return logical(node.name === "_||_", this.plan(first, scope), this.plan(second, scope));
    }
    if (node.name === "_+_" && first?.kind === "identifier" && first.name === ACCUMULATOR && second?.kind === "list") {
      return this.#append(first, second, scope);
    }
    const isMember = node.target !== undefined && !this.#checked.isQualified(node);
    const operands = isMember && node.target !== undefined ? [node.target, ...node.args] : node.args;
    const name = isMember || node.target?.kind !== "identifier" ? node.name : `${node.target.name}.${node.name}`;
    return invoke(
      name,
      this.#checked.overloadsOf(node),
      operands.map((operand) => this.plan(operand, scope)),
    );
  }

  /** The step of `map` and `filter` per element: only these macros add to an accumulator. It costs as much as the addition of two lists. */
  #append(accumulator: Expression, list: Extract<Expression, { kind: "list" }>, scope: Scope): Step {
    const grown = this.plan(accumulator, scope);
    const [item] = list.items.map(({ value }) => this.plan(value, scope));
    return (frame) => {
      const target = grown(frame);
      const value = item?.(frame) ?? null;
      if (value instanceof CelFailure) return value;
      const spent = frame.meter.pay(LIST_COST + 1);
      if (spent !== undefined || target instanceof CelFailure) return spent ?? target;
      return target instanceof GrowingList ? target.append(value) : NO_SUCH_OVERLOAD;
    };
  }

  #optionalSelect(operand: Expression, field: string, scope: Scope): Step {
    const step = this.plan(operand, scope);
    return (frame) => {
      const target = step(frame);
      if (target instanceof CelFailure) return target;
      const inner = target instanceof CelOptional ? target.value : target;
      if (inner === undefined) return NONE;
      const found = isMap(inner) ? inner.get(field) : NO_SUCH_OVERLOAD;
      return frame.meter.pay(1) ?? (found instanceof CelFailure ? found : new CelOptional(found));
    };
  }

  #list(node: Extract<Expression, { kind: "list" }>, scope: Scope): Step {
    const constants = node.items.flatMap(({ value, optional }) => (value.kind === "constant" && !optional ? [value.value] : []));
    if (constants.length > 0 && constants.length === node.items.length) {
      const list = constantList(constants);
      return (frame) => frame.meter.pay(LIST_COST) ?? list;
    }
    const steps = node.items.map((item) => ({ run: this.plan(item.value, scope), optional: item.optional }));
    return (frame) => {
      const items: CelValue[] = [];
      for (const { run, optional } of steps) {
        const value = run(frame);
        if (value instanceof CelFailure) return value;
        if (!optional) items.push(value);
        else if (value instanceof CelOptional && value.value !== undefined) items.push(value.value);
      }
      return frame.meter.pay(LIST_COST) ?? listOf(items);
    };
  }

  #map(node: Extract<Expression, { kind: "map" }>, scope: Scope): Step {
    const steps = node.entries.map((entry) => ({
      key: this.plan(entry.key, scope),
      value: this.plan(entry.value, scope),
      optional: entry.optional,
    }));
    return (frame) => {
      const entries: [CelValue, CelValue][] = [];
      for (const step of steps) {
        const key = step.key(frame);
        if (key instanceof CelFailure) return key;
        const value = step.value(frame);
        if (value instanceof CelFailure) return value;
        if (!step.optional) entries.push([key, value]);
        else if (value instanceof CelOptional && value.value !== undefined) entries.push([key, value.value]);
      }
      return frame.meter.pay(MAP_COST) ?? mapOf(entries);
    };
  }

  #struct(node: Extract<Expression, { kind: "struct" }>, scope: Scope): Step {
    const type = this.#checked.typeOf(node);
    const steps = node.fields.map(({ name, value, optional }) => ({ name, run: this.plan(value, scope), optional }));
    return (frame) => {
      const fields = new Map<string, CelValue>();
      for (const { name, run, optional } of steps) {
        const value = run(frame);
        if (value instanceof CelFailure) return value;
        if (!optional) fields.set(name, value);
        else if (value instanceof CelOptional && value.value !== undefined) fields.set(name, value.value);
      }
      return frame.meter.pay(STRUCT_COST) ?? new CelStruct(type, fields);
    };
  }

  #comprehension(node: Comprehension, scope: Scope): Step {
    const slot = this.slots;
    this.slots += 3;
    const withResult = new Map([...scope, [node.accumulator, slot]]);
    const inside = new Map([...withResult, [node.variable, slot + 1]]);
    if (node.variable2 !== undefined) inside.set(node.variable2, slot + 2);
    const plan = {
      slot,
      hasTwo: node.variable2 !== undefined,
      grows: node.accumulator === ACCUMULATOR,
      freeNodes: freeNodes(node.condition) + freeNodes(node.step),
      range: this.plan(node.range, scope),
      start: this.plan(node.start, scope),
      condition: this.plan(node.condition, inside),
      step: this.plan(node.step, inside),
      result: this.plan(node.result, withResult),
    };
    return (frame) => runLoop(frame, plan);
  }
}

const FREE_CALLS = new Set(["_&&_", "_||_", "_?_:_"]);

/** Nodes without a cost in Kubernetes that are evaluated at most once per evaluation of this node. */
function freeNodes(root: Expression): number {
  const ahead: Expression[] = [root];
  let count = 0;
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (node.kind === "constant" || (node.kind === "call" && FREE_CALLS.has(node.name)) || (node.kind === "select" && node.testOnly)) {
      count += 1;
    }
    ahead.push(...(node.kind === "comprehension" ? [node.range, node.start, node.result] : childrenOf(node)));
  }
  return count;
}
