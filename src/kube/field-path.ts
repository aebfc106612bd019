/**
 * Resolves the field paths of errors (`spec.containers[main].image`, `spec.containers.main.files["/etc/a.b"].mode`) in the value that they
 * refer to. Map keys may contain dots and brackets, so a path cannot be parsed without its value.
 */
import { isJsonObject, type Json } from "./json.ts";

export type FieldStep = string | number;

export type FoundField = {
  /** The part of the path that exists in the value. */
  readonly steps: readonly FieldStep[];
  /** Whether the whole path exists. False for a missing required field. */
  readonly complete: boolean;
};

/**
 * The deepest field of the value on the path.
 *
 * @example findField({ spec: { files: { "/a.b": 1 } } }, 'spec.files["/a.b"].mode') // { steps: ["spec", "files", "/a.b"], complete: false }
 */
export function findField(value: Json, path: string): FoundField {
  const steps: FieldStep[] = [];
  let [here, rest]: [Json | undefined, string] = [value, path];
  while (rest !== "") {
    const next: Next | undefined = nextField(here, rest);
    if (next === undefined) break;
    steps.push(next.step);
    [here, rest] = [next.value, rest.slice(next.length)];
  }
  return { steps, complete: rest === "" };
}

type Next = { readonly step: FieldStep; readonly value: Json | undefined; readonly length: number };

function nextField(value: Json | undefined, rest: string): Next | undefined {
  if (Array.isArray(value)) return itemOf(value as readonly Json[], rest);
  return isJsonObject(value) ? entryOf(value, rest) : undefined;
}

/** If two keys match (`a` and `a.b` for `a.b`), the longer one is used. */
function entryOf(map: Readonly<Record<string, Json | undefined>>, rest: string): Next | undefined {
  let best: Next | undefined;
  for (const key of Object.keys(map)) {
    const length = lengthOf(key, rest);
    if (length > (best?.length ?? 0)) best = { step: key, value: map[key], length };
  }
  return best;
}

/** How many characters of the path the key matches; 0: no match. */
function lengthOf(key: string, rest: string): number {
  for (const form of [`["${key}"]`, `[${key}]`]) if (rest.startsWith(form)) return form.length;
  const plain = rest.startsWith(".") ? 1 : 0;
  if (key === "" || !rest.startsWith(key, plain)) return 0;
  const end = plain + key.length;
  return end === rest.length || rest[end] === "." || rest[end] === "[" ? end : 0;
}

/** An item by its index, or by its `target` in lists that may also be written as a map of targets. */
function itemOf(list: readonly Json[], rest: string): Next | undefined {
  const [text, digits] = /^\[([0-9]{1,9})\]/.exec(rest) ?? [];
  if (text !== undefined && Number(digits) < list.length) return { step: Number(digits), value: list[Number(digits)], length: text.length };
  for (const [step, item] of list.entries()) {
    const target = isJsonObject(item) ? item["target"] : undefined;
    const length = typeof target === "string" ? lengthOf(target, rest) : 0;
    if (length > 0) return { step, value: item, length };
  }
  return undefined;
}
