/** Macros: calls that are expanded to other expressions. The expansions are cel-go's, node for node, because costs depend on them. */
import { err, ok, type Result } from "#base";
import { ACCUMULATOR, call, type Call, type Comprehension, type Expression } from "./ast.ts";
import type { Issue } from "./source.ts";

type Expand = (macro: Call, target: Expression) => Result<Expression, Issue>;

/** By name and number of arguments. */
const MEMBERS: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ["all/2", (macro, target) => quantifier(macro, target, "all", 1)],
  ["all/3", (macro, target) => quantifier(macro, target, "all", 2)],
  ["exists/2", (macro, target) => quantifier(macro, target, "exists", 1)],
  ["exists/3", (macro, target) => quantifier(macro, target, "exists", 2)],
  ["exists_one/2", (macro, target) => exactlyOne(macro, target, 1)],
  ["existsOne/3", (macro, target) => exactlyOne(macro, target, 2)],
  ["map/2", (macro, target) => mapped(macro, target, 1)],
  ["map/3", (macro, target) => mapped(macro, target, 1)],
  ["filter/2", filtered],
  ["transformList/3", (macro, target) => mapped(macro, target, 2)],
  ["transformList/4", (macro, target) => mapped(macro, target, 2)],
  ["transformMap/3", (macro, target) => transformedMap(macro, target, "value")],
  ["transformMap/4", (macro, target) => transformedMap(macro, target, "value")],
  ["transformMapEntry/3", (macro, target) => transformedMap(macro, target, "entry")],
  ["transformMapEntry/4", (macro, target) => transformedMap(macro, target, "entry")],
  ["optMap/2", (macro, target) => optionalMap(macro, target, "optMap")],
  ["optFlatMap/2", (macro, target) => optionalMap(macro, target, "optFlatMap")],
  ["sortBy/2", sortedBy],
]);

/** Undefined when the call is no macro. */
export function expandMacro(macro: Call): Result<Expression, Issue> | undefined {
  if (macro.target === undefined) return macro.name === "has" && macro.args.length === 1 ? presence(macro) : undefined;
  return MEMBERS.get(`${macro.name}/${macro.args.length}`)?.(macro, macro.target);
}

function presence(macro: Call): Result<Expression, Issue> {
  const [arg] = macro.args;
  if (arg?.kind !== "select") return err({ at: arg?.at ?? macro.at, message: "invalid argument to has() macro" });
  return ok({ ...arg, at: macro.at, testOnly: true });
}

type Loop = Omit<Comprehension, "kind" | "at" | "range" | "variable" | "variable2" | "accumulator">;

/** The loop over `target`, with the first `count` arguments as variables. */
function loop(macro: Call, target: Expression, count: 1 | 2, parts: Loop): Result<Expression, Issue> {
  const names: string[] = [];
  for (const arg of macro.args.slice(0, count)) {
    if (arg.kind !== "identifier") return err({ at: arg.at, message: "argument must be a simple name" });
    if (arg.name === ACCUMULATOR || arg.name === "__result__") {
      return err({ at: arg.at, message: "iteration variable overwrites accumulator variable" });
    }
    names.push(arg.name);
  }
  const [variable = "", variable2] = names;
  if (variable === variable2) return err({ at: macro.args[1]?.at ?? macro.at, message: `duplicate variable name: ${variable}` });
  return ok({ kind: "comprehension", at: macro.at, range: target, variable, variable2, accumulator: ACCUMULATOR, ...parts });
}

function accumulator(at: number): Expression {
  return { kind: "identifier", at, name: ACCUMULATOR };
}

function constant(at: number, value: boolean | bigint): Expression {
  return { kind: "constant", at, value };
}

function argument(macro: Call, position: number): Expression {
  return macro.args[position] ?? constant(macro.at, false);
}

function quantifier(macro: Call, target: Expression, kind: "all" | "exists", count: 1 | 2): Result<Expression, Issue> {
  const { at } = macro;
  const goesOn = kind === "all" ? accumulator(at) : call(at, "!_", accumulator(at));
  return loop(macro, target, count, {
    start: constant(at, kind === "all"),
    condition: call(at, "@not_strictly_false", goesOn),
    step: call(at, kind === "all" ? "_&&_" : "_||_", accumulator(at), argument(macro, count)),
    result: accumulator(at),
  });
}

function exactlyOne(macro: Call, target: Expression, count: 1 | 2): Result<Expression, Issue> {
  const { at } = macro;
  return loop(macro, target, count, {
    start: constant(at, 0n),
    condition: constant(at, true),
    step: call(at, "_?_:_", argument(macro, count), call(at, "_+_", accumulator(at), constant(at, 1n)), accumulator(at)),
    result: call(at, "_==_", accumulator(at), constant(at, 1n)),
  });
}

function append(at: number, item: Expression): Expression {
  return call(at, "_+_", accumulator(at), { kind: "list", at, items: [{ value: item, optional: false }] });
}

/** The last argument is the new value of an element; an optional one before it is a condition. */
function mapped(macro: Call, target: Expression, count: 1 | 2): Result<Expression, Issue> {
  const { at, args } = macro;
  const step = append(at, argument(macro, args.length - 1));
  const filter = args.length > count + 1 ? args[count] : undefined;
  return loop(macro, target, count, {
    start: { kind: "list", at, items: [] },
    condition: constant(at, true),
    step: filter === undefined ? step : call(at, "_?_:_", filter, step, accumulator(at)),
    result: accumulator(at),
  });
}

function filtered(macro: Call, target: Expression): Result<Expression, Issue> {
  const { at } = macro;
  const item = argument(macro, 0);
  return loop(macro, target, 1, {
    start: { kind: "list", at, items: [] },
    condition: constant(at, true),
    step: call(at, "_?_:_", argument(macro, 1), append(at, item), accumulator(at)),
    result: accumulator(at),
  });
}

function transformedMap(macro: Call, target: Expression, kind: "value" | "entry"): Result<Expression, Issue> {
  const { at, args } = macro;
  const value = argument(macro, args.length - 1);
  const key = argument(macro, 0);
  const step =
    kind === "value" ? call(at, "cel.@mapInsert", accumulator(at), key, value) : call(at, "cel.@mapInsert", accumulator(at), value);
  const filter = args.length > 3 ? args[2] : undefined;
  return loop(macro, target, 2, {
    start: { kind: "map", at, entries: [] },
    condition: constant(at, true),
    step: filter === undefined ? step : call(at, "_?_:_", filter, step, accumulator(at)),
    result: accumulator(at),
  });
}

/** A variable with a value for one expression: a loop that never runs. */
function bind(at: number, name: string, value: Expression, result: Expression): Expression {
  return {
    kind: "comprehension",
    at,
    range: { kind: "list", at, items: [] },
    variable: "#unused",
    variable2: undefined,
    accumulator: name,
    start: value,
    condition: constant(at, false),
    step: { kind: "identifier", at, name },
    result,
  };
}

function optionalMap(macro: Call, target: Expression, kind: "optMap" | "optFlatMap"): Result<Expression, Issue> {
  const { at } = macro;
  const name = argument(macro, 0);
  if (name.kind !== "identifier") return err({ at: name.at, message: `${kind}() variable name must be a simple identifier` });
  const member = (method: string): Expression => ({ kind: "call", at, name: method, target, args: [] });
  const bound = bind(at, name.name, member("value"), argument(macro, 1));
  const present = kind === "optMap" ? call(at, "optional.of", bound) : bound;
  return ok(call(at, "_?_:_", member("hasValue"), present, call(at, "optional.none")));
}

function sortedBy(macro: Call, target: Expression): Result<Expression, Issue> {
  const { at } = macro;
  const keys = mapped({ ...macro, name: "map" }, { kind: "identifier", at, name: "@__sortBy_input__" }, 1);
  if (!keys.ok) return keys;
  const input: Expression = { kind: "identifier", at, name: "@__sortBy_input__" };
  const sorted: Expression = { kind: "call", at, name: "@sortByAssociatedKeys", target: input, args: [keys.value] };
  return ok(bind(at, "@__sortBy_input__", target, sorted));
}
