/** The kinds that OpenAPI documents add to the existing ones. */
import { readFile } from "node:fs/promises";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import { parseJson, parseYaml, type Json, type JsonObject } from "#kube";
import type { ResourceType } from "#kube-server";
import { describedTypes } from "./described-types.ts";

/** `sources`: files, or the documents themselves. */
export async function typesFrom(
  sources: readonly (string | JsonObject)[],
  builtin: readonly ResourceType[],
): Promise<Result<readonly ResourceType[], string>> {
  const all = [...builtin];
  for (const source of sources) {
    const document = typeof source === "string" ? await readOpenApi(source) : ok(source);
    if (!document.ok) return document;
    const types = describedTypes(document.value, all);
    if (!types.ok) return err(typeof source === "string" ? `${source}: ${types.error}` : types.error);
    all.push(...types.value);
  }
  return ok(all);
}

/** JSON is parsed as JSON: a whole swagger.json has megabytes, and the YAML parser is slower. */
async function readOpenApi(path: string): Promise<Result<Json, string>> {
  const text = await fromPromise(readFile(path, "utf8"), (thrown) => `${path}: cannot be read: ${describeThrown(thrown)}`);
  if (!text.ok) return text;
  if (text.value.trimStart().startsWith("{")) {
    const json = parseJson(text.value);
    return json.ok ? json : err(`${path}: ${json.error}`);
  }
  const yaml = parseYaml(text.value);
  if (yaml.ok) return ok(yaml.value[0] ?? null);
  return err(`${path}${yaml.error.line === undefined ? "" : `:${yaml.error.line}`}: ${yaml.error.message}`);
}
