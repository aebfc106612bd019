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
  if (!wantDuplicates) return ok({ value: parsed.value, duplicates: [] });
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
