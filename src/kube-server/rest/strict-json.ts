/**
 * JSON text read so that nothing the client wrote goes unnoticed: a field given twice is reported with its path, as the real server does.
 *
 * The text goes through JSON.parse first (the fast way, and the judge of what is JSON). Duplicates are looked for in the text itself and
 * only then: a value cannot tell that it was overwritten.
 */
import { err, ok, type Result } from "#base";
import { parseJson, type Json } from "#kube";
import { goJsonError } from "./go-json-error.ts";

export type StrictJson = {
  readonly value: Json;
  /** `duplicate field "spec.a"`, in the order of the text. */
  readonly duplicates: readonly string[];
};

export function parseStrictJson(text: string, wantDuplicates = true): Result<StrictJson, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(/deeper/.test(parsed.error) ? parsed.error : goJsonError(text));
  if (!wantDuplicates || !repeatsField(text)) return ok({ value: parsed.value, duplicates: [] });
  const duplicates = new Set<string>();
  scanFields(text, (path, again) => {
    if (again) duplicates.add(`duplicate field "${path}"`);
  });
  return ok({ value: parsed.value, duplicates: [...duplicates] });
}

/** Where each field stands in the text: the place of its last mention. */
export function fieldOrder(text: string): ReadonlyMap<string, number> {
  const order = new Map<string, number>();
  let place = 0;
  scanFields(text, (path) => order.set(path, place++));
  return order;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];

/**
 * Whether any object in the text, which is known to be JSON, has a field twice. Nearly none has, and then nobody needs the paths. A name
 * with an escape in it could be the same as one without: in doubt, yes.
 */
function repeatsField(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let expectsName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = text.indexOf('"', start);
      const escaped = text.charCodeAt(at - 1) === BACKSLASH || (expectsName && text.slice(start, at).includes("\\"));
      if (escaped && expectsName) return true;
      if (escaped) at = endOfString(text, start - 1);
      else if (expectsName && names !== undefined) {
        const name = text.slice(start, at);
        if (names.has(name)) return true;
        names.add(name);
      }
      expectsName = false;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      open.push(names);
      names = code === OPEN_OBJECT ? new Set() : undefined;
      expectsName = code === OPEN_OBJECT;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      names = open.pop();
      expectsName = false;
    } else if (code === COMMA) expectsName = names !== undefined;
  }
  return false;
}

type Frame = { readonly path: string; readonly names: Set<string> | undefined; index: number };

/** A scan of text that is known to be JSON: every field name with its path, and whether its object had it before. */
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
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
