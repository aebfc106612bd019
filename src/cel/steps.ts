/**
 * The steps of an evaluation: loops, conditions, logic, calls and fields, each charged to the budget of the run.
 */
import { finished, growing } from "./accumulators.ts";
import { costFunction } from "./cost/actual.ts";
import { runOverload, type Overload } from "./declarations.ts";
import type { Meter } from "./meter.ts";
import { describeMismatch } from "./mismatch.ts";
import type { CelType } from "./types.ts";
import { accepts, typeName } from "./value-types.ts";
import {
  CelFailure,
  CelOptional,
  CelStruct,
  failure,
  isList,
  isMap,
  NO_SUCH_OVERLOAD,
  type CelList,
  type CelMap,
  type CelValue,
} from "./values.ts";

/** The values of variables by name. They may be made when they are first read. */
export type VariableValues = Pick<ReadonlyMap<string, CelValue>, "get">;

/** One run: its meter, and the values of its variables and loops. */
export type Frame = { readonly meter: Meter; readonly variables: VariableValues; readonly slots: CelValue[] };
export type Step = (frame: Frame) => CelValue;

function isFatal(value: CelValue): boolean {
  return value instanceof CelFailure && value.fatal;
}

export type Loop = {
  readonly slot: number;
  readonly hasTwo: boolean;
  /** It builds a list or a map; otherwise the author's expression can read the accumulator. */
  readonly grows: boolean;
  /** Nodes of its body without a cost in Kubernetes. */
  readonly freeNodes: number;
  readonly range: Step;
  readonly start: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
};

export function runLoop(frame: Frame, loop: Loop): CelValue {
  const range = loop.range(frame);
  if (range instanceof CelFailure) return range;
  const start = loop.start(frame);
  frame.slots[loop.slot] = loop.grows ? growing(start) : start;
  if (!isList(range) && !isMap(range)) return failure(`got 'types.${goName(range)}', expected iterable type`);
  const stopped = isMap(range) ? loopOverMap(frame, loop, range) : loopOverList(frame, loop, range);
  if (stopped !== undefined) return stopped;
  return finished(loop.result(frame));
}

function loopOverList(frame: Frame, loop: Loop, list: CelList): CelValue | undefined {
  const { slots } = frame;
  const { slot, hasTwo } = loop;
  for (let position = 0; position < list.size; position++) {
    const item = list.get(position);
    slots[slot + 1] = hasTwo ? BigInt(position) : item;
    if (hasTwo) slots[slot + 2] = item;
    const ended = iterate(frame, loop);
    if (ended !== undefined) return ended === DONE ? undefined : ended;
  }
  return undefined;
}

function loopOverMap(frame: Frame, loop: Loop, map: CelMap): CelValue | undefined {
  const { slots } = frame;
  const { slot, hasTwo } = loop;
  const spent = frame.meter.work(map.size);
  if (spent !== undefined) return spent;
  for (const key of map.keys()) {
    slots[slot + 1] = key;
    if (hasTwo) slots[slot + 2] = map.get(key) ?? null;
    const ended = iterate(frame, loop);
    if (ended !== undefined) return ended === DONE ? undefined : ended;
  }
  return undefined;
}

const DONE = failure("the loop needs no more elements");

/** Undefined: the loop continues. */
function iterate(frame: Frame, { slot, freeNodes, condition, step }: Loop): CelFailure | undefined {
  const spent = frame.meter.work(freeNodes);
  if (spent !== undefined) return spent;
  const goesOn = condition(frame);
  if (goesOn instanceof CelFailure && goesOn.fatal) return goesOn;
  if (goesOn !== true) return DONE;
  const next = step(frame);
  if (next instanceof CelFailure && next.fatal) return next;
  frame.slots[slot] = next;
  return undefined;
}

/** "String" for a string: cel-go's name of the value's type. */
function goName(value: CelValue): string {
  const name = typeName(value).replace(/^google\.protobuf\.|_type$/g, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const NOT_A_POSITION = failure("unsupported index type 'string' in list");

/** A value without fields fails like one without this field. */
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
    return isFatal(value) ? value : (frame.meter.pay(1) ?? value !== false);
  };
}

export function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (value instanceof CelFailure) return value;
    return typeof value === "boolean" ? (value ? yes(frame) : no(frame)) : NO_SUCH_OVERLOAD;
  };
}

/** One operand can decide alone, also when the other failed: `true || error` is true. */
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

/** The cost of a call is charged before the call. */
export function invoke(name: string, overloads: readonly Overload[], operands: readonly Step[]): Step {
  const costOf = costFunction(name);
  return (frame) => {
    const args: CelValue[] = [];
    for (let at = 0; at < operands.length; at++) {
      const value = operands[at]?.(frame) ?? null;
      if (value instanceof CelFailure) return value;
      args.push(value);
    }
    const overload = findOverload(overloads, args);
    if (overload === undefined) return describeMismatch(name, args);
    const { meter } = frame;
    const spent = meter.pay(costOf === undefined ? 1 : costOf({ name, overload: overload.id, args, meter }));
    return spent ?? runOverload(overload, args, meter);
  };
}

function findOverload(overloads: readonly Overload[], args: readonly CelValue[]): Overload | undefined {
  for (const overload of overloads) if (acceptsAll(overload.parameters, args)) return overload;
  return undefined;
}

function acceptsAll(parameters: readonly CelType[], args: readonly CelValue[]): boolean {
  for (let at = 0; at < parameters.length; at++) {
    const type = parameters[at];
    if (type !== undefined && !accepts(type, args[at] ?? null)) return false;
  }
  return true;
}
