/**
 * Parses JSON and reports duplicate fields with their paths, as a real server does.
 *
 * JSON.parse runs first, because it is fast. A text with more names than the parsed value has fields contains duplicates; only such a text is
 * scanned for them.
 */
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { MAX_DEPTH, type Json, type JsonObject } from "#kube";
import { goJsonError } from "./go-json-error.ts";

export type StrictJson = {
  readonly value: Json;
  /** `duplicate field "spec.a"`, in the order of the text. */
  readonly duplicates: readonly string[];
};

export function parseStrictJson(text: string, wantDuplicates = true): Result<StrictJson, string> {
  const parsed = fromThrowing(() => JSON.parse(text) as Json, describeThrown);
  if (!parsed.ok) return err(goJsonError(text));
  const fields = countFields(parsed.value, MAX_DEPTH);
  if (fields === TOO_DEEP) return err(`nested deeper than ${MAX_DEPTH} levels`);
  // as many fields in the value as names in the text: no duplicates
  if (!wantDuplicates || fields === countNames(text)) return ok({ value: parsed.value, duplicates: [] });
  const duplicates = new Set<string>();
  scanFields(text, (path, again) => {
    if (again) duplicates.add(`duplicate field "${path}"`);
  });
  return ok({ value: parsed.value, duplicates: [...duplicates] });
}

const TOO_DEEP = -1;

function countFields(value: Json, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth <= 0) return TOO_DEEP;
  let fields = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      const below = countFields(item, depth - 1);
      if (below === TOO_DEEP) return TOO_DEEP;
      fields += below;
    }
    return fields;
  }
  const object = value as JsonObject;
  for (const name in object) {
    const below = countFields(object[name] ?? null, depth - 1);
    if (below === TOO_DEEP) return TOO_DEEP;
    fields += 1 + below;
  }
  return fields;
}

/** The order of the fields in a text that is known to be JSON; a duplicate field has the position of its last occurrence. */
export function fieldOrder(text: string): ReadonlyMap<string, number> {
  const order = new Map<string, number>();
  let place = 0;
  scanFields(text, (path) => order.set(path, place++));
  return order;
}

const [QUOTE, BACKSLASH, COLON] = [34, 92, 58];

/** The number of field names in a text that is known to be JSON: outside strings, only a name is followed by a colon. */
function countNames(text: string): number {
  let names = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON) names += 1;
    else if (code === QUOTE) {
      at += 1;
      for (let inside = text.charCodeAt(at); inside !== QUOTE; inside = text.charCodeAt(at)) at += inside === BACKSLASH ? 2 : 1;
    }
  }
  return names;
}

type Frame = { readonly path: string; readonly names: Set<string> | undefined; index: number };

/** Scans text that is known to be JSON: reports every field with its path, and whether it is a duplicate. */
function scanFields(text: string, onField: (path: string, again: boolean) => void): void {
  const stack: Frame[] = [];
  let pending = "";
  let expectsName = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const top = stack.at(-1);
    if (character === '"') {
      const end = endOfString(text, at);
      if (expectsName && top?.names !== undefined) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        pending = top.path === "" ? name : `${top.path}.${name}`;
        onField(pending, top.names.has(name));
        top.names.add(name);
        expectsName = false;
      }
      at = end;
    } else if (character === "{" || character === "[") {
      const path = top === undefined ? "" : top.names === undefined ? `${top.path}[${top.index}]` : pending;
      stack.push({ path, names: character === "{" ? new Set() : undefined, index: 0 });
      expectsName = character === "{";
    } else if (character === "}" || character === "]") {
      stack.pop();
      expectsName = false;
    } else if (character === ",") {
      if (top !== undefined) top.index += 1;
      expectsName = top?.names !== undefined;
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
