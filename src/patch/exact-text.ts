/**
 * Parses and prints JSON without losing digits: Kubernetes' int64 exceeds the range of exact JavaScript numbers.
 *
 * Few documents have such a number, so a regular expression selects them; all others use JSON.parse only. In the selected documents integers
 * beyond 2^53 become bigints and "1.0" becomes an ExactFloat; the patch functions treat both as opaque scalars. Fields are printed
 * sorted, as in Go.
 */
import { fromThrowing, ok, type Result } from "#base";
import { badJson, tooDeep, type PatchError } from "./errors.ts";
import { compareText } from "./go-values.ts";
import { depthExceeds, ExactFloat, isList, isObject, MAX_DEPTH, type Json, type JsonObject, type MutableObject, setField } from "./json.ts";

/** Reads the documents of one call: equal floats become the same ExactFloat, so that `===` holds between documents. */
export class ExactReader {
  readonly #floats = new Map<number, ExactFloat>();

  read(text: string): Result<Json, PatchError> {
    const parsed = fromThrowing(() => (needsCare(text) ? this.#readCarefully(text) : (JSON.parse(text) as Json)), badJson);
    if (!parsed.ok) return parsed.error;
    return depthExceeds(parsed.value, MAX_DEPTH) ? tooDeep() : ok(parsed.value);
  }

  #readCarefully(text: string): Json {
    const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
      typeof value === "number" ? this.#exact(value, context?.source ?? String(value)) : value;
    return JSON.parse(text, revive) as Json;
  }

  /** As Go parses numbers: an int64 if the text is one, a float64 otherwise. Bigints and ExactFloats are treated as scalars. */
  #exact(value: number, source: string): unknown {
    if (!Number.isFinite(value)) throw new RangeError("number out of range");
    if (/^-?\d+$/.test(source)) {
      if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
      const whole = BigInt(source);
      return BigInt.asIntN(64, whole) === whole ? whole : this.#float(value);
    }
    return Number.isInteger(value) ? this.#float(value) : value;
  }

  #float(value: number): ExactFloat {
    const known = this.#floats.get(value);
    if (known !== undefined) return known;
    const made = new ExactFloat(value);
    this.#floats.set(value, made);
    return made;
  }
}

/** Numbers with a fraction, an exponent, or sixteen digits and more; a string that looks like one only makes parsing slower. */
const CAREFUL_NUMBER = /\d(?:\d{15}|\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)\s*(?:[,\]}]|$)/;

function needsCare(text: string): boolean {
  return CAREFUL_NUMBER.test(text);
}

/** Prints with sorted fields and exact numbers. */
export function printExact(value: Json): string {
  const sorted = sortedForPrinting(value);
  return sorted === undefined ? printCarefully(value) : JSON.stringify(sorted);
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** A copy with sorted fields; undefined if a JavaScript object cannot keep that order, or a number needs exact printing. */
function sortedForPrinting(value: Json): Json | undefined {
  if (isList(value)) return sortedList(value);
  if (isObject(value)) return sortedObject(value);
  return typeof value === "bigint" || typeof value === "object" ? (value === null ? value : undefined) : value;
}

function sortedList(list: readonly Json[]): Json | undefined {
  let copy: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as Json;
    if (typeof item === "string") continue;
    const sorted = sortedForPrinting(item);
    if (sorted === undefined) return undefined;
    if (sorted !== item) (copy ??= [...list])[index] = sorted;
  }
  return copy ?? list;
}

function sortedObject(object: JsonObject): JsonObject | undefined {
  const names = Object.keys(object);
  let inOrder = true;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    // JavaScript moves names that look like an index to the front.
    if (name.charCodeAt(0) <= 57 && INDEX.test(name)) return undefined;
    if (index > 0 && (names[index - 1] as string) > name) inOrder = false;
  }
  return inOrder ? withSortedFields(object, names) : copyInOrder(object, names.toSorted(compareText));
}

/** Most objects are sorted already and need no copy. */
function withSortedFields(object: JsonObject, names: readonly string[]): JsonObject | undefined {
  let copy: MutableObject | undefined;
  for (const name of names) {
    const value = object[name];
    if (typeof value !== "object" || value === null) {
      if (typeof value === "bigint") return undefined;
      continue;
    }
    const sorted = sortedForPrinting(value);
    if (sorted === undefined) return undefined;
    if (sorted !== value) setField((copy ??= { ...object }), name, sorted);
  }
  return copy ?? object;
}

function copyInOrder(object: JsonObject, names: readonly string[]): JsonObject | undefined {
  const copy: MutableObject = {};
  for (const name of names) {
    const value = object[name];
    if (value === undefined) continue;
    const sorted = typeof value === "string" ? value : sortedForPrinting(value);
    if (sorted === undefined) return undefined;
    setField(copy, name, sorted);
  }
  return copy;
}

function printCarefully(value: Json): string {
  if (isList(value)) return `[${value.map(printCarefully).join(",")}]`;
  if (isObject(value)) {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    return `{${names
      .toSorted(compareText)
      .map((name) => `${JSON.stringify(name)}:${printCarefully(value[name] ?? null)}`)
      .join(",")}}`;
  }
  return printScalar(value);
}

function printScalar(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof ExactFloat) return Object.is(value.value, -0) ? "-0" : JSON.stringify(value.value);
  return JSON.stringify(value);
}
