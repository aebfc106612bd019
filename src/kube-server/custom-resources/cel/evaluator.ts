/**
 * Runs a checked expression. It is turned into closures once; a run then costs no look-ups by name.
 *
 * Every step is paid for from a budget. When that is spent the run ends with a failure that nothing can swallow, so a rule can be
 * slow to write but never hangs the server.
 */
import type { Call, Comprehension, Expression } from "./ast.ts";
import type { Checked } from "./checked.ts";
import { LIST_COST, MAP_COST, STRUCT_COST } from "./cost/sizes.ts";
import { mapOf } from "./maps.ts";
import { conditional, hasField, invoke, logical, notStrictlyFalse, pay, runLoop, selectField, type Frame, type Step } from "./steps.ts";
import {
  CelFailure,
  CelOptional,
  CelStruct,
  CelTypeValue,
  failure,
  isMap,
  listOf,
  NO_SUCH_OVERLOAD,
  NONE,
  type CelValue,
} from "./values.ts";

export type Run = { readonly value: CelValue; readonly cost: number };
export type Program = (variables: ReadonlyMap<string, CelValue>) => Run;

export function planProgram(checked: Checked, limit: number): Program {
  const planner = new Planner(checked);
  const step = planner.plan(checked.expression, new Map());
  return (variables) => {
    const frame: Frame = { cost: 0, limit, variables, slots: Array.from({ length: planner.slots }, () => null) };
    const value = step(frame);
    return { value, cost: frame.cost };
  };
}

type Scope = ReadonlyMap<string, number>;

class Planner {
  slots = 0;
  readonly #checked: Checked;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  plan(node: Expression, scope: Scope): Step {
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
    if (slot !== undefined) return (frame) => pay(frame, 1) ?? frame.slots[slot] ?? null;
    const type = this.#checked.typeOf(node);
    const [named] = type.parameters;
    if (type.kind === "type" && named !== undefined) {
      const value = new CelTypeValue(named);
      return (frame) => frame.variables.get(name) ?? value;
    }
    return (frame) => {
      const value = frame.variables.get(name);
      return pay(frame, 1) ?? (value === undefined ? failure(`no such attribute(s): ${name}`) : value);
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
      const spent = testOnly ? undefined : pay(frame, 1);
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
    const isMember = node.target !== undefined && !this.#checked.isQualified(node);
    const operands = isMember && node.target !== undefined ? [node.target, ...node.args] : node.args;
    const name = isMember || node.target?.kind !== "identifier" ? node.name : `${node.target.name}.${node.name}`;
    return invoke(
      name,
      this.#checked.overloadsOf(node),
      operands.map((operand) => this.plan(operand, scope)),
    );
  }

  #optionalSelect(operand: Expression, field: string, scope: Scope): Step {
    const step = this.plan(operand, scope);
    return (frame) => {
      const target = step(frame);
      if (target instanceof CelFailure) return target;
      const inner = target instanceof CelOptional ? target.value : target;
      if (inner === undefined) return NONE;
      const found = isMap(inner) ? inner.get(field) : NO_SUCH_OVERLOAD;
      return pay(frame, 1) ?? (found instanceof CelFailure ? found : new CelOptional(found));
    };
  }

  #list(node: Extract<Expression, { kind: "list" }>, scope: Scope): Step {
    const steps = node.items.map((item) => ({ run: this.plan(item.value, scope), optional: item.optional }));
    return (frame) => {
      const items: CelValue[] = [];
      for (const { run, optional } of steps) {
        const value = run(frame);
        if (value instanceof CelFailure) return value;
        if (!optional) items.push(value);
        else if (value instanceof CelOptional && value.value !== undefined) items.push(value.value);
      }
      return pay(frame, LIST_COST) ?? listOf(items);
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
      return pay(frame, MAP_COST) ?? mapOf(entries);
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
      return pay(frame, STRUCT_COST) ?? new CelStruct(type, fields);
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
      range: this.plan(node.range, scope),
      start: this.plan(node.start, scope),
      condition: this.plan(node.condition, inside),
      step: this.plan(node.step, inside),
      result: this.plan(node.result, withResult),
    };
    return (frame) => runLoop(frame, plan);
  }
}
