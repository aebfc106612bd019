/**
 * Parses YAML bodies. Duplicate keys are reported, all of them if the text is not too large; the last value counts, as in Go's parser. Errors
 * have the messages of Go's parser.
 */
import { err, ok, type Result } from "#base";
import { parseYaml } from "#kube";
import type { StrictJson } from "./strict-json.ts";

/** Duplicate keys are reported with lines, not paths. */
export function readYaml(text: string): Result<StrictJson, string> {
  const documents = parseYaml(text);
  if (documents.ok) return ok({ value: documents.value[0] ?? null, duplicates: [] });
  const { message, line } = documents.error;
  const lenient = message.includes("duplicated mapping key") ? parseYaml(text, { duplicates: "last" }) : documents;
  if (!lenient.ok) return err(goYamlProblem(message, line));
  return ok({ value: lenient.value[0] ?? null, duplicates: doubledKeys(text, line ?? 1) });
}

/** Limit of characters that are parsed again: each further duplicate key costs one parse of the whole text. */
const MOST_READ_AGAIN = 500_000;
/** The text before the first key of a line, and the key. Adjacent parts match disjoint characters, because lines may be long. */
const FIRST_KEY = /^([\s-]*)("[^"]*"\s*|[^\s":{-][^":{]*):/;
const KEY_IN_BRACES = /[{,]\s*(?:"([^"]*)"\s*|([^\s":,{}][^":,{}]*)):/g;

/** The parser stops at the first duplicate; it is renamed, and the text is parsed again. */
function doubledKeys(text: string, first: number): readonly string[] {
  const lines = text.split("\n");
  const found: string[] = [];
  let line: number | undefined = first;
  while (line !== undefined) {
    const given: string = lines[line - 1] ?? "";
    found.push(`line ${line}: key ${JSON.stringify(doubledKey(given))} already set in map`);
    const [whole = "", before = ""] = FIRST_KEY.exec(given) ?? [];
    if (whole === "" || given.includes("{") || text.length * found.length > MOST_READ_AGAIN) break;
    lines[line - 1] = `${before}doubled-${found.length}:${given.slice(whole.length)}`;
    const again = parseYaml(lines.join("\n"));
    line = !again.ok && again.error.message.includes("duplicated mapping key") ? again.error.line : undefined;
  }
  return found;
}

/** In braces the key is anywhere in the line; otherwise the line begins with it. */
function doubledKey(line: string): string {
  const seen = new Set<string>();
  for (const [, quoted, plain = ""] of line.matchAll(KEY_IN_BRACES)) {
    const key = quoted ?? plain.trimEnd();
    if (seen.has(key)) return key;
    seen.add(key);
  }
  const key = FIRST_KEY.exec(line)?.[2]?.trimEnd() ?? "";
  return key.startsWith('"') ? key.slice(1, -1) : key;
}

/** The message of Go's parser, which omits line 1 for some errors. */
function goYamlProblem(message: string, line: number | undefined): string {
  if (message === "bad indentation of a mapping entry")
    return `yaml: ${(line ?? 1) > 1 ? `line ${line}: ` : ""}mapping values are not allowed in this context`;
  if (message === "unexpected end of the stream within a flow collection")
    return `yaml: line ${line ?? 1}: did not find expected node content`;
  return `yaml: ${line === undefined ? "" : `line ${line}: `}${message}`;
}
