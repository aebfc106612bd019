/** JSON from annotations and ConfigMaps. The depth is checked before parsing: to parse a text of brackets takes seconds. */
import { err, type Result } from "#base";
import { parseJson, type Json } from "#kube";

export type JsonBounds = { readonly length: number; readonly depth: number };

export function parseBoundedJson(text: string, { length, depth }: JsonBounds): Result<Json, string> {
  if (text.length > length) return err(`larger than ${length / 1024} KiB`);
  return isNestedDeeper(text, depth) ? err(`nested deeper than ${depth} levels`) : parseJson(text);
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];

/** Brackets in texts do not count. */
export function isNestedDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) at += code === BACKSLASH ? 1 : 0;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
