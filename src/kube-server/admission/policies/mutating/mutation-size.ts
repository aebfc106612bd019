/**
 * Limits for the size and depth of the value of a mutation. Values that share parts are small during evaluation: `[v, v]` of `[v, v]` of …
 * has few lists, but its JSON doubles with every level.
 */
import { CelOptional, CelStruct, isList, isMap, type CelValue } from "#cel";

const MAX_VALUES = 300_000;
const MAX_TEXT = 4 * 1_024 * 1_024;
const MAX_DEPTH = 500;

/** The limit that was exceeded; undefined: none. */
export function sizeProblem(root: CelValue): string | undefined {
  const ahead: { readonly value: CelValue; readonly depth: number }[] = [{ value: root, depth: 0 }];
  let [values, text] = [0, 0];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { value, depth } = next;
    values += 1;
    if (typeof value === "string" || value instanceof Uint8Array) text += value.length;
    if (values + ahead.length > MAX_VALUES) return `the value of the expression has more than ${MAX_VALUES} parts`;
    if (text > MAX_TEXT) return `the texts in the value of the expression have more than ${MAX_TEXT} characters`;
    if (depth > MAX_DEPTH) return `the value of the expression is nested more than ${MAX_DEPTH} levels deep`;
    if (sizeOf(value) > MAX_VALUES) return `the value of the expression has more than ${MAX_VALUES} parts`;
    for (const inner of partsOf(value)) ahead.push({ value: inner, depth: depth + 1 });
  }
  return undefined;
}

function sizeOf(value: CelValue): number {
  return isList(value) || isMap(value) ? value.size : 0;
}

function* partsOf(value: CelValue): Generator<CelValue> {
  if (isList(value)) for (let at = 0; at < value.size; at++) yield value.get(at);
  else if (isMap(value)) for (const key of value.keys()) yield value.get(key) ?? null;
  else if (value instanceof CelStruct) yield* value.fields.values();
  else if (value instanceof CelOptional && value.value !== undefined) yield value.value;
}
