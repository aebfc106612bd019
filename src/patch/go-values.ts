/**
 * Go types of values, and values as Go prints them. Kubernetes compares list elements by their printed form and uses that form in its
 * messages, so it must be exact: `map[a:1 b:<nil>]`, `1e+21`, `%!s(int64=1)`.
 */
import { ExactFloat, fieldNames, isList, isObject } from "./json.ts";

export type GoValueType = "nil" | "bool" | "string" | "int64" | "float64" | "map" | "list";

export function goTypeOf(value: unknown): GoValueType {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return "int64";
    case "number":
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? "int64" : "float64";
    default:
      if (Array.isArray(value)) return "list";
      if (value instanceof ExactFloat) return "float64";
      return isObject(value) ? "map" : "nil";
  }
}

/** How `reflect.TypeOf` prints, as used in "expected a …, but received a …". */
export function goTypeName(value: unknown): string {
  const type = goTypeOf(value);
  if (type === "map") return "map[string]interface {}";
  if (type === "list") return "[]interface {}";
  return type === "nil" ? "%!s(<nil>)" : type;
}

/** `fmt.Sprintf("%v", value)`. */
export function formatValue(value: unknown): string {
  return format(value, formatScalar, 0);
}

/** `fmt.Sprintf("%s", value)`: other values than strings print as `%!s(…)`, which Kubernetes' messages contain. */
export function formatAsString(value: unknown): string {
  return format(value, formatScalarAsString, 0);
}

/** Messages quote documents of any depth; deeper values are abbreviated. */
const PRINTED_DEPTH = 64;

function format(value: unknown, scalar: (value: unknown) => string, depth: number): string {
  if (depth > PRINTED_DEPTH) return "...";
  if (isList(value)) return `[${value.map((item) => format(item, scalar, depth + 1)).join(" ")}]`;
  if (!isObject(value)) return scalar(value);
  const fields = fieldNames(value).toSorted(compareText);
  return `map[${fields.map((name) => `${name}:${format(value[name], scalar, depth + 1)}`).join(" ")}]`;
}

function formatScalar(value: unknown): string {
  if (value instanceof ExactFloat) return formatFloat(value.value);
  if (typeof value === "number") return goTypeOf(value) === "float64" ? formatFloat(value) : String(value);
  return typeof value === "string" || typeof value === "boolean" || typeof value === "bigint" ? String(value) : "<nil>";
}

function formatScalarAsString(value: unknown): string {
  if (typeof value === "string") return value;
  const type = goTypeOf(value);
  return type === "nil" ? "%!s(<nil>)" : `%!s(${type}=${formatScalar(value)})`;
}

/** Go's %v: shortest digits, exponent form below 1e-4 and from 1e21, exponents of at least two digits. */
function formatFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(value);
}

/** Go compares strings by bytes. JavaScript compares UTF-16 units, which gives the same order for all characters valid in names. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Scalars are comparable; comparing two maps or two lists panics in Go. */
export function isComparable(value: unknown): boolean {
  return !isList(value) && !isObject(value);
}
