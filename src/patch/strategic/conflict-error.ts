/**
 * The message of a conflict shows both patches as YAML. This writer supports only the values of patches: block style, fields
 * sorted, text in quotes only if YAML would parse it as another type.
 */
import type { Err } from "#base";
import { failure, type PatchError } from "../errors.ts";
import { compareText, formatValue } from "../go-values.ts";
import { fieldNames, isList, isObject, type Json, type JsonObject } from "../json.ts";

export function conflictError(patch: JsonObject, changed: JsonObject): Err<PatchError> {
  return failure("conflict", `patch:\n${toYaml(patch)}\nconflicts with changes made from original to current:\n${toYaml(changed)}\n`);
}

function toYaml(value: JsonObject): string {
  return fieldNames(value).length === 0 ? "{}\n" : `${objectLines(value, 0).join("\n")}\n`;
}

function objectLines(object: JsonObject, depth: number): string[] {
  return fieldNames(object)
    .toSorted(compareText)
    .flatMap((name) => nested(`${yamlText(name)}:`, object[name] ?? null, depth, depth));
}

function listLines(list: readonly Json[], depth: number): string[] {
  return list.flatMap((item) => {
    const inner = isObject(item) && !isInline(item) ? objectLines(item, depth + 1) : nested("-", item, depth, depth + 1);
    if (!isObject(item) || isInline(item)) return inner;
    return inner.map((line, index) => (index === 0 ? `${indent(depth)}- ${line.trimStart()}` : line));
  });
}

/** A list below its field is not indented further; an object is. */
function nested(label: string, value: Json, depth: number, listDepth: number): string[] {
  const head = `${indent(depth)}${label}`;
  if (isInline(value)) return [`${head} ${inline(value)}`];
  return [head, ...(isList(value) ? listLines(value, listDepth) : objectLines(value as JsonObject, depth + 1))];
}

function isInline(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  return !isObject(value) || fieldNames(value).length === 0;
}

function inline(value: Json): string {
  if (isList(value)) return "[]";
  if (isObject(value)) return "{}";
  return typeof value === "string" ? yamlText(value) : formatValue(value).replace("<nil>", "null");
}

const PLAIN = /^[A-Za-z_./$][A-Za-z0-9_./$@%+\- ]*(?<! )$/;
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan)$/i;

function yamlText(text: string): string {
  return PLAIN.test(text) && !TAKEN.test(text) ? text : JSON.stringify(text);
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}
