/** The JSON Patch (RFC 6902) from one object to another. Parts that are the same value are not compared further. */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import type { JsonPatchOperation } from "./outcomes.ts";
import { jsonOf } from "./owner-object.ts";

export function jsonPatchBetween(before: KubeObject, after: KubeObject): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  betweenObjects(jsonOf(before), jsonOf(after), "", operations);
  return operations;
}

function between(before: Json, after: Json, path: string, operations: JsonPatchOperation[]): void {
  if (before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) betweenObjects(before, after, path, operations);
  else if (Array.isArray(before) && Array.isArray(after)) betweenLists(before, after, path, operations);
  else if (!jsonEqual(before, after)) operations.push({ op: "replace", path, value: after });
}

function betweenObjects(before: JsonObject, after: JsonObject, path: string, operations: JsonPatchOperation[]): void {
  for (const name of Object.keys(before)) {
    if (field(after, name) === undefined && field(before, name) !== undefined)
      operations.push({ op: "remove", path: `${path}/${escaped(name)}` });
  }
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = field(before, name);
    if (old === undefined) operations.push({ op: "add", path: `${path}/${escaped(name)}`, value });
    else between(old, value, `${path}/${escaped(name)}`, operations);
  }
}

/** Between the common start and the common end, elements are compared in order; the rest is removed or added. */
function betweenLists(before: readonly Json[], after: readonly Json[], path: string, operations: JsonPatchOperation[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && jsonEqual(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && jsonEqual(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const common = shorter - start - end;
  for (let index = start; index < start + common; index += 1) {
    const [old, next] = [before[index], after[index]];
    if (old !== undefined && next !== undefined) between(old, next, `${path}/${index}`, operations);
  }
  for (let index = before.length - end - 1; index >= start + common; index -= 1)
    operations.push({ op: "remove", path: `${path}/${index}` });
  for (let index = start + common; index < after.length - end; index += 1) {
    const value = after[index];
    if (value !== undefined) operations.push({ op: "add", path: `${path}/${index}`, value });
  }
}

function escaped(name: string): string {
  return name.includes("~") || name.includes("/") ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;
}
