/**
 * Declarations of functions and operators: a name and overloads. Signatures are written as text, `list(A).indexOf(A) -> int`, so that a table of
 * them is readable.
 */
import {
  AUTHORIZER,
  BOOL,
  BYTES,
  CIDR,
  DECISION,
  DOUBLE,
  DURATION,
  DYN,
  GROUP_CHECK,
  INT,
  IP,
  listType,
  mapType,
  NAMED_FORMAT,
  optionalType,
  parameterType,
  PATH_CHECK,
  QUANTITY,
  RESOURCE_CHECK,
  SEMVER,
  STRING,
  TIMESTAMP,
  typeOfType,
  UINT,
  URL_TYPE,
  type CelType,
} from "./types.ts";
import type { Meter } from "./meter.ts";
import type { CelValue } from "./values.ts";

export type Evaluate = (...args: readonly CelValue[]) => CelValue;
/** For functions whose work is not covered by their cost: they charge it to the meter first. */
export type MeteredEvaluate = (meter: Meter, ...args: readonly CelValue[]) => CelValue;
export type Metered = { readonly metered: MeteredEvaluate };

export function metered(evaluate: MeteredEvaluate): Metered {
  return { metered: evaluate };
}

export type Overload = {
  readonly id: string;
  /** A method of its first parameter. */
  readonly isMember: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  readonly evaluate: Evaluate | Metered;
};

export function runOverload({ evaluate }: Overload, args: readonly CelValue[], meter: Meter): CelValue {
  if (args.length > 2) return typeof evaluate === "function" ? evaluate(...args) : evaluate.metered(meter, ...args);
  // passing undefined equals omitting the argument, and is faster than a spread
  const [first, second] = args as readonly [CelValue, CelValue];
  return typeof evaluate === "function" ? evaluate(first, second) : evaluate.metered(meter, first, second);
}

export type Declarations = ReadonlyMap<string, readonly Overload[]>;

const NAMED: ReadonlyMap<string, CelType> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["timestamp", TIMESTAMP],
  ["duration", DURATION],
  ["dyn", DYN],
  ["Quantity", QUANTITY],
  ["URL", URL_TYPE],
  ["Semver", SEMVER],
  ["Format", NAMED_FORMAT],
  ["IP", IP],
  ["CIDR", CIDR],
  ["Authorizer", AUTHORIZER],
  ["PathCheck", PATH_CHECK],
  ["GroupCheck", GROUP_CHECK],
  ["ResourceCheck", RESOURCE_CHECK],
  ["Decision", DECISION],
]);

/** One row of a library: its id, its signature, and its implementation. */
export type Row = readonly [id: string, signature: string, evaluate: Evaluate | Metered];

export function declare(rows: readonly Row[]): Declarations {
  const declared = new Map<string, Overload[]>();
  for (const [id, signature, evaluate] of rows) {
    const { name, ...overload } = readSignature(signature);
    const overloads = declared.get(name) ?? [];
    overloads.push({ id, evaluate, ...overload });
    declared.set(name, overloads);
  }
  return declared;
}

export function joinDeclarations(libraries: readonly Declarations[]): Declarations {
  const all = new Map<string, readonly Overload[]>();
  for (const library of libraries) {
    for (const [name, overloads] of library) all.set(name, [...(all.get(name) ?? []), ...overloads]);
  }
  return all;
}

type Signature = { readonly name: string; readonly isMember: boolean; readonly parameters: readonly CelType[]; readonly result: CelType };

/** `name(a, b) -> r`, or `<target> name(a) -> r` for a method. */
function readSignature(text: string): Signature {
  const [call = "", result = ""] = text.split(" -> ");
  const target = /^<(.*?)> /.exec(call);
  const rest = call.slice(target?.[0].length ?? 0);
  const open = rest.indexOf("(");
  const name = rest.slice(0, open);
  const parameters = splitTypes(rest.slice(open + 1, -1)).map(readType);
  return {
    name,
    isMember: target !== null,
    parameters: target === null ? parameters : [readType(target[1] ?? ""), ...parameters],
    result: readType(result),
  };
}

/** At commas outside of brackets. */
function splitTypes(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const character of text) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return part.trim() === "" ? parts : [...parts, part];
}

function readType(text: string): CelType {
  const name = text.trim();
  const named = NAMED.get(name);
  if (named !== undefined) return named;
  const [first = DYN, second = DYN] = splitTypes(name.slice(name.indexOf("(") + 1, -1)).map((part) =>
    part === name ? DYN : readType(part),
  );
  if (name.startsWith("list(")) return listType(first);
  if (name.startsWith("map(")) return mapType(first, second);
  if (name.startsWith("optional(")) return optionalType(first);
  return name.startsWith("type(") ? typeOfType(first) : parameterType(name);
}
