/**
 * What the steps of a running expression do: loops, choices, logic, calls and fields, each paid for from the budget of the run.
 */
import { actualCost } from "./cost/actual.ts";
import type { Overload } from "./declarations.ts";
import { describeMismatch } from "./mismatch.ts";
import { accepts, typeName } from "./value-types.ts";
import { CelFailure, CelOptional, CelStruct, failure, isList, isMap, itemsOf, NO_SUCH_OVERLOAD, type CelValue } from "./values.ts";

/** What one run has used up, and the values of its loop variables. */
export type Frame = { cost: number; readonly limit: number; readonly variables: ReadonlyMap<string, CelValue>; readonly slots: CelValue[] };
export type Step = (frame: Frame) => CelValue;

const SPENT = new CelFailure("operation cancelled: actual cost limit exceeded", true);

export function pay(frame: Frame, cost: number): CelFailure | undefined {
  frame.cost += cost;
  return frame.cost > frame.limit ? SPENT : undefined;
}

function isFatal(value: CelValue): boolean {
  return value instanceof CelFailure && value.fatal;
}

export type Loop = {
  readonly slot: number;
  readonly hasTwo: boolean;
  readonly range: Step;
  readonly start: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
};

export function runLoop(frame: Frame, loop: Loop): CelValue {
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

const NOT_A_POSITION = failure("unsupported index type 'string' in list");

/** A value without fields has just not this one. */
export function selectField(target: CelValue, field: string): CelValue {
  if (target instanceof CelOptional) {
    const found = target.value === undefined || !isMap(target.value) ? undefined : target.value.get(field);
    return found instanceof CelFailure ? found : new CelOptional(found);
  }
  if (isList(target)) return NOT_A_POSITION;
  const found = isMap(target) ? target.get(field) : target instanceof CelStruct ? target.fields.get(field) : undefined;
  return found === undefined ? failure(`no such key: ${field}`) : found;
}

export function hasField(target: CelValue, field: string): CelValue {
  const inner = target instanceof CelOptional ? target.value : target;
  if (inner === undefined) return false;
  if (isList(inner)) return NOT_A_POSITION;
  const found = isMap(inner) ? inner.get(field) : inner instanceof CelStruct ? inner.fields.get(field) : undefined;
  return found instanceof CelFailure ? found : found !== undefined;
}

export function notStrictlyFalse(step: Step): Step {
  return (frame) => {
    const value = step(frame);
    return isFatal(value) ? value : (pay(frame, 1) ?? value !== false);
  };
}

export function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (value instanceof CelFailure) return value;
    return typeof value === "boolean" ? (value ? yes(frame) : no(frame)) : NO_SUCH_OVERLOAD;
  };
}

/** One side can decide alone, also when the other failed: `true || error` is true. */
export function logical(decides: boolean, left: Step, right: Step): Step {
  return (frame) => {
    const first = left(frame);
    if (first === decides || isFatal(first)) return first;
    const second = right(frame);
    if (second === decides || isFatal(second)) return second;
    if (typeof first === "boolean" && typeof second === "boolean") return !decides;
    return first instanceof CelFailure ? first : second instanceof CelFailure ? second : NO_SUCH_OVERLOAD;
  };
}

export function invoke(name: string, overloads: readonly Overload[], operands: readonly Step[]): Step {
  return (frame) => {
    const args: CelValue[] = [];
    for (const operand of operands) {
      const value = operand(frame);
      if (value instanceof CelFailure) return value;
      args.push(value);
    }
    const overload = overloads.find(({ parameters }) => parameters.every((type, at) => accepts(type, args[at] ?? null)));
    if (overload === undefined) return describeMismatch(name, args);
    const result = overload.evaluate(...args);
    return pay(frame, actualCost(name, args, result)) ?? result;
  };
}
