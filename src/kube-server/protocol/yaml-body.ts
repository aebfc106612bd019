/**
 * YAML as the body of a request. Keys that are given twice are found, all of them if that is not too much work; their values are those given
 * last, as with Go's reader. Its words are used for what cannot be read.
 */
import { err, ok, type Result } from "#base";
import { parseYaml } from "#kube";
import type { StrictJson } from "./strict-json.ts";

/** YAML's own findings name lines, not paths. */
export function readYaml(text: string): Result<StrictJson, string> {
  const documents = parseYaml(text);
  if (documents.ok) return ok({ value: documents.value[0] ?? null, duplicates: [] });
  const { message, line } = documents.error;
  const lenient = message.includes("duplicated mapping key") ? parseYaml(text, { duplicates: "last" }) : documents;
  if (!lenient.ok) return err(goYamlProblem(message, line));
  return ok({ value: lenient.value[0] ?? null, duplicates: doubledKeys(text, line ?? 1) });
}

/** Characters that are read again to find the others: each costs a reading of the whole text. */
const MOST_READ_AGAIN = 500_000;
/** What stands before the first key of a line, and the key. No two parts that follow each other take the same character: lines may be long. */
const FIRST_KEY = /^([\s-]*)("[^"]*"\s*|[^\s":{-][^":{]*):/;
const KEY_IN_BRACES = /[{,]\s*(?:"([^"]*)"\s*|([^\s":,{}][^":,{}]*)):/g;

/** The reader stops at the first; that one gets another name, and the rest is read again. */
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

/** In braces the key is somewhere in the line; else the line begins with it. */
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

/** What Go's reader says instead; of the first line it speaks without a number when it stumbles over a single character. */
function goYamlProblem(message: string, line: number | undefined): string {
  if (message === "bad indentation of a mapping entry")
    return `yaml: ${(line ?? 1) > 1 ? `line ${line}: ` : ""}mapping values are not allowed in this context`;
  if (message === "unexpected end of the stream within a flow collection")
    return `yaml: line ${line ?? 1}: did not find expected node content`;
  return `yaml: ${line === undefined ? "" : `line ${line}: `}${message}`;
}
