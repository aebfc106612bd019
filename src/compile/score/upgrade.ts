/** Converts deprecated forms of Score that are still in use: files and volumes as lists, a file's content as lines, `read_only`. */
import { isJsonObject, type Json, type JsonObject } from "#kube";
import type { ScoreError } from "./error.ts";

export type Upgraded = { readonly value: Json; readonly errors: readonly ScoreError[] };

export function upgradeScore(value: Json): Upgraded {
  const containers = isJsonObject(value) ? value["containers"] : undefined;
  if (!isJsonObject(value) || !isJsonObject(containers)) return { value, errors: [] };
  const errors: ScoreError[] = [];
  const upgraded = Object.entries(containers).map(([name, container]): [string, Json | undefined] => {
    if (!isJsonObject(container)) return [name, container];
    const { files, volumes } = container;
    return [
      name,
      {
        ...container,
        ...(Array.isArray(files) ? { files: byTarget(files, `containers.${name}.files`, errors, joinLines) } : {}),
        ...(Array.isArray(volumes) ? { volumes: byTarget(volumes, `containers.${name}.volumes`, errors, renameReadOnly) } : {}),
      },
    ];
  });
  return { value: { ...value, containers: Object.fromEntries(upgraded) }, errors };
}

function byTarget(items: readonly Json[], path: string, errors: ScoreError[], change: (item: JsonObject) => JsonObject): JsonObject {
  const entries = new Map<string, JsonObject>();
  for (const [at, item] of items.entries()) {
    const target = isJsonObject(item) ? item["target"] : undefined;
    if (!isJsonObject(item) || typeof target !== "string") {
      errors.push({ kind: "invalid", path: `${path}[${at}].target`, message: "is required in a list; better, write a map by path" });
      continue;
    }
    if (entries.has(target)) errors.push({ kind: "invalid", path: `${path}[${at}].target`, message: `is listed twice: ${target}` });
    const { target: _target, ...rest } = item;
    entries.set(target, change(rest));
  }
  return Object.fromEntries(entries);
}

function joinLines(file: JsonObject): JsonObject {
  const { content } = file;
  if (!Array.isArray(content)) return file;
  return { ...file, content: content.map((line: Json) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n") };
}

function renameReadOnly(volume: JsonObject): JsonObject {
  const { read_only: readOnly, ...rest } = volume;
  return readOnly === undefined ? volume : { ...rest, readOnly };
}
