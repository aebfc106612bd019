/**
 * The error of a call whose arguments match no overload. This only happens with values of unknown type; cel-go has four different messages,
 * depending on the type of the first argument.
 */
import { describeKey } from "./maps.ts";
import { typeName } from "./value-types.ts";
import { failure, isList, isMap, NO_SUCH_OVERLOAD, NONE, type CelValue } from "./values.ts";

const NUMBERS = ["int", "uint", "double"];
const TIMES = ["google.protobuf.Timestamp", "google.protobuf.Duration"];
const ORDERED = new Set(["bool", "string", "bytes", ...NUMBERS, ...TIMES]);
const MULTIPLIED = new Set(NUMBERS);

/** Types that an operator supports, even if not with the other operand. */
const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map<string, ReadonlySet<string>>([
  ["_<_", ORDERED],
  ["_<=_", ORDERED],
  ["_>_", ORDERED],
  ["_>=_", ORDERED],
  ["_+_", new Set(["string", "bytes", "list", ...NUMBERS, ...TIMES])],
  ["_-_", new Set([...NUMBERS, ...TIMES])],
  ["_*_", MULTIPLIED],
  ["_/_", MULTIPLIED],
  ["_%_", new Set(["int", "uint"])],
  ["-_", new Set(["int", "double"])],
  ["size", new Set(["string", "bytes", "list", "map"])],
]);
/** Types with methods of their own for operators that do not support them. */
const RECEIVERS = new Set(["string", ...TIMES]);
/** Operators and methods of strings whose error does not contain the types of the arguments. */
const TERSE = /_|^@in$|^(?:contains|endsWith|startsWith|matches|size)$/;

export function describeMismatch(name: string, args: readonly CelValue[]): CelValue {
  const [first = null, second = null] = args;
  const type = typeName(first);
  if (name === "_[?_]") return NONE;
  if (name === "_[_]") return isList(first) || isMap(first) ? NO_SUCH_OVERLOAD : failure(`no such key: ${describeKey(second)}`);
  const known = KNOWN.get(name);
  if (known !== undefined && !known.has(type) && !RECEIVERS.has(type)) return failure(`no such overload: ${name}`);
  if (TERSE.test(name) || (/^get[A-Z]/.test(name) && RECEIVERS.has(type))) return NO_SUCH_OVERLOAD;
  return failure(`no such overload: ${name}(${args.map(typeName).join(", ")})`);
}
