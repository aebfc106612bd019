/**
 * Runs a checked expression. It is turned into closures once; a run then costs no look-ups by name.
 *
 * Every step is paid for from a budget. When that is spent the run ends with a failure that nothing can swallow, so a rule can be
 * slow to write but never hangs the server.
 */
import { ACCUMULATOR, type Call, type Comprehension, type Expression } from "./ast.ts";
import type { Checked } from "./checker.ts";
import { actualCost } from "./cost/actual.ts";
import { LIST_COST, MAP_COST } from "./cost/sizes.ts";
import type { Overload } from "./declarations.ts";
import { mapOf } from "./maps.ts";
import { accepts, typeName } from "./value-types.ts";
import {
  CelFailure,
  CelOptional,
  CelTypeValue,
  failure,
  isList,
  isMap,
  itemsOf,
  listOf,
  NO_SUCH_OVERLOAD,
  NONE,
  type CelValue,
} from "./values.ts";

export type Run = { readonly value: CelValue; readonly cost: number };
export type Program = (variables: ReadonlyMap<string, CelValue>) => Run;

/** What one run has used up, and the values of its loop variables. */
type Frame = { cost: number; readonly limit: number; readonly variables: ReadonlyMap<string, CelValue>; readonly slots: CelValue[] };
type Step = (frame: Frame) => CelValue;

const SPENT = new CelFailure("operation cancelled: actual cost limit exceeded", true);

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

function pay(frame: Frame, cost: number): CelFailure | undefined {
  frame.cost += cost;
  return frame.cost > frame.limit ? SPENT : undefined;
}

function isFatal(value: CelValue): boolean {
  return value instanceof CelFailure && value.fatal;
}

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
        return () => NO_SUCH_OVERLOAD;
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
    if (node.name === "_?._" && first !== undefined && second?.kind === "constant")
      return this.#optionalSelect(first, String(second.value), scope);
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

  #comprehension(node: Comprehension, scope: Scope): Step {
    const slot = this.slots;
    this.slots += 3;
    const withResult = new Map([...scope, [node.accumulator, slot]]);
    const inside = new Map([...withResult, [node.variable, slot + 1]]);
    if (node.variable2 !== undefined) inside.set(node.variable2, slot + 2);
    const plan = {
      slot,
      hasTwo: node.variable2 !== undefined,
      appends: node.accumulator === ACCUMULATOR && node.start.kind === "list",
      range: this.plan(node.range, scope),
      start: this.plan(node.start, scope),
      condition: this.plan(node.condition, inside),
      step: this.plan(node.step, inside),
      result: this.plan(node.result, withResult),
    };
    return (frame) => runLoop(frame, plan);
  }
}

type Loop = {
  readonly slot: number;
  readonly hasTwo: boolean;
  readonly range: Step;
  readonly start: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
};

function runLoop(frame: Frame, loop: Loop): CelValue {
  const { slot } = loop;
  const range = loop.range(frame);
  if (range instanceof CelFailure) return range;
  frame.slots[slot] = loop.start(frame);
  if (!isList(range) && !isMap(range)) return failure(`got 'types.${goName(range)}', expected iterable type`);
  const keys = isMap(range) ? range.keys() : itemsOf(range);
  for (const [position, key] of keys.entries()) {
    frame.slots[slot + 1] = loop.hasTwo && isList(range) ? BigInt(position) : key;
    if (loop.hasTwo) frame.slots[slot + 2] = isMap(range) ? (range.get(key) ?? null) : key;
    const goesOn = loop.condition(frame);
    if (isFatal(goesOn)) return goesOn;
    if (goesOn !== true) break;
    const next = loop.step(frame);
    if (isFatal(next)) return next;
    frame.slots[slot] = next;
  }
  return loop.result(frame);
}

/** "String" for a string: cel-go's own name of the value. */
function goName(value: CelValue): string {
  const name = typeName(value).replace(/^google\.protobuf\.|_type$/g, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function selectField(target: CelValue, field: string): CelValue {
  if (target instanceof CelOptional) {
    const found = target.value === undefined || !isMap(target.value) ? undefined : target.value.get(field);
    return found instanceof CelFailure ? found : new CelOptional(found);
  }
  if (!isMap(target)) return NO_SUCH_OVERLOAD;
  const found = target.get(field);
  return found === undefined ? failure(`no such key: ${field}`) : found;
}

function hasField(target: CelValue, field: string): CelValue {
  const inner = target instanceof CelOptional ? target.value : target;
  if (inner === undefined) return false;
  if (!isMap(inner)) return NO_SUCH_OVERLOAD;
  const found = inner.get(field);
  return found instanceof CelFailure ? found : found !== undefined;
}

function notStrictlyFalse(step: Step): Step {
  return (frame) => {
    const value = step(frame);
    return isFatal(value) ? value : (pay(frame, 1) ?? value !== false);
  };
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (value instanceof CelFailure) return value;
    return typeof value === "boolean" ? (value ? yes(frame) : no(frame)) : NO_SUCH_OVERLOAD;
  };
}

/** One side can decide alone, also when the other failed: `true || error` is true. */
function logical(decides: boolean, left: Step, right: Step): Step {
  return (frame) => {
    const first = left(frame);
    if (first === decides || isFatal(first)) return first;
    const second = right(frame);
    if (second === decides || isFatal(second)) return second;
    if (typeof first === "boolean" && typeof second === "boolean") return !decides;
    return first instanceof CelFailure ? first : second instanceof CelFailure ? second : NO_SUCH_OVERLOAD;
  };
}

/** Operators and the methods of strings and times do not say which types they were given. */
const TERSE = /_|^@in$|^(?:contains|endsWith|startsWith|matches|size|get[A-Z]\w*)$/;

function invoke(name: string, overloads: readonly Overload[], operands: readonly Step[]): Step {
  const mismatch = TERSE.test(name) ? NO_SUCH_OVERLOAD : undefined;
  return (frame) => {
    const args: CelValue[] = [];
    for (const operand of operands) {
      const value = operand(frame);
      if (value instanceof CelFailure) return value;
      args.push(value);
    }
    const overload = overloads.find(({ parameters }) => parameters.every((type, at) => accepts(type, args[at] ?? null)));
    if (overload === undefined) return mismatch ?? failure(`no such overload: ${name}(${args.map(typeName).join(", ")})`);
    const result = overload.evaluate(...args);
    return pay(frame, actualCost(name, args, result)) ?? result;
  };
}
