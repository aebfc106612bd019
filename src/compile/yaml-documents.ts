/**
 * Reads the documents of a YAML file, each by the rules of its own tools.
 *
 * kubectl reads `no`, `on` and `y` as YAML 1.1 does, as booleans; Score's tools read them as text, and so does this parser for Score files. A key that
 * kubectl would turn into `false` is refused in other documents: the variable NO would silently become the variable false.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, parseYaml, type Json, type YamlError } from "#kube";
import { isScore } from "./score.ts";

/** Spellings of booleans in YAML 1.1 that are text in 1.2, where a key or a value can be. Most files have none, and are read once. */
const WORDS = /(?:^|[\s{[,])(?:y|n|yes|no|on|off)(?=\s*(?:[:,}\]#]|$))/im;

/**
 * Every document of a file with resources of Lattice, Kubernetes or Score.
 *
 * @example parseDocuments("apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: a, variables: {COUNTRY: NO}}}\n")
 */
export function parseDocuments(text: string): Result<readonly Json[], YamlError> {
  if (!WORDS.test(text)) return parseYaml(text);
  const written = parseYaml(text, { booleans: "yaml-1.2" });
  if (!written.ok || written.value.every(isScore)) return written;
  const read = parseYaml(text);
  if (!read.ok) return read;
  const documents: Json[] = [];
  for (const [at, document] of written.value.entries()) {
    const asRead = read.value[at] ?? null;
    const key = isScore(document) ? undefined : changedKey(asRead, document);
    if (key !== undefined) return err({ kind: "yaml", message: `the key ${key} is read as a boolean by kubectl; put it in quotes` });
    documents.push(isScore(document) ? document : asRead);
  }
  return ok(documents);
}

/** A key of `written` that differs in `read`. Both have the same structure. */
function changedKey(read: Json, written: Json): string | undefined {
  if (Array.isArray(read) && Array.isArray(written)) return firstChanged(read, written);
  if (!isJsonObject(read) || !isJsonObject(written)) return undefined;
  const changed = Object.keys(written).find((key) => !Object.hasOwn(read, key));
  return changed ?? firstChanged(Object.values(read), Object.values(written));
}

function firstChanged(read: readonly (Json | undefined)[], written: readonly (Json | undefined)[]): string | undefined {
  for (const [at, item] of written.entries()) {
    const key = changedKey(read[at] ?? null, item ?? null);
    if (key !== undefined) return key;
  }
  return undefined;
}
