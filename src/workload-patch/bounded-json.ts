/** JSON from annotations and ConfigMaps. The depth is checked before parsing: to parse a text of brackets takes seconds. */
import { err, type Result } from "#base";
import { parseJson, type Json } from "#kube";

export type JsonBounds = { readonly length: number; readonly depth: number };

export function parseBoundedJson(text: string, { length, depth }: JsonBounds): Result<Json, string> {
  if (text.length > length) return err(`larger than ${length / 1024} KiB`);
  return isDeeper(text, depth) ? err(`nested deeper than ${depth} levels`) : parseJson(text);
}

/** Brackets in texts do not count. */
function isDeeper(text: string, limit: number): boolean {
  let [depth, quoted] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === "\\") at += 1;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
