/**
 * Validates a value against its schema. The messages are those of a real server, including Go syntax.
 *
 * Duplicates in sets and map lists are an error only in an applied configuration: objects that were stored before must stay valid.
 * A real server walks maps in random order and stops a map at its first undeclared field; we walk in document order.
 */
import { err, ok, type Result } from "#base";
import { isJsonObject, MAX_DEPTH, goPlainText, goSourceText, goTypeText, type Json } from "#kube";
import { elementOfItem } from "./list-items.ts";
import { elementText, fieldElement, indexElement, pathText, type PathElement } from "./path-element.ts";
import { ownField } from "./own-fields.ts";
import { fieldType, shapeOf, type ListSchema, type MapSchema, type ScalarType, type TypeSchema } from "./schema.ts";

export type ValidateOptions = { readonly allowDuplicates: boolean };

/** Ok, or all errors in one text: `.spec.foo: …`, or `errors:` and one line each. */
export function validate(type: TypeSchema, value: Json, options: ValidateOptions): Result<undefined, string> {
  return fits(type, value, options, 0) ? ok(undefined) : explain(type, value, options);
}

function explain(type: TypeSchema, value: Json, options: ValidateOptions): Result<undefined, string> {
  const walk: Walk = { path: [], problems: [], ...options };
  visit(walk, type, value);
  const [only, ...more] = walk.problems;
  if (only === undefined) return ok(undefined);
  return err(more.length === 0 ? only : ["errors:", ...walk.problems.map((problem) => `  ${problem}`)].join("\n"));
}

/**
 * A fast check without paths for messages, because nearly every value is valid. False in doubtful cases. `sound` is an optional valid value:
 * parts that are shared with it are not checked.
 */
export function fits(type: TypeSchema, value: Json, options: ValidateOptions, depth: number, sound?: Json): boolean {
  if (typeof value === "object" && value !== null && value === sound) return true;
  if (depth > MAX_DEPTH) return false;
  switch (shapeOf(type, value)) {
    case "map":
      return type.map !== undefined && mapFits(type.map, value, options, depth, sound);
    case "list":
      return type.list !== undefined && listFits(type.list, value, options, depth, sound);
    case "scalar":
      return type.scalar !== undefined && scalarFits(type.scalar, value);
    case undefined:
      return false;
  }
}

export function scalarFits(scalar: ScalarType, value: Json): boolean {
  if (value === null) return true;
  if (scalar === "untyped") return typeof value !== "object";
  return typeof value === (scalar === "numeric" ? "number" : scalar);
}

function mapFits(map: MapSchema, value: Json, options: ValidateOptions, depth: number, sound: Json | undefined): boolean {
  if (value === null) return true;
  if (!isJsonObject(value)) return false;
  const known = isJsonObject(sound) ? sound : undefined;
  for (const name in value) {
    const below = value[name];
    if (below === undefined) continue;
    const type = fieldType(map, name);
    if (type === undefined || !fits(type, below, options, depth + 1, known && ownField(known, name))) return false;
  }
  return true;
}

function listFits(list: ListSchema, value: Json, options: ValidateOptions, depth: number, sound: Json | undefined): boolean {
  if (value === null) return true;
  if (!Array.isArray(value)) return false;
  const items: readonly Json[] = value;
  const known: readonly Json[] = Array.isArray(sound) ? sound : [];
  const seen = new Set<PathElement>();
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] ?? null;
    if (list.kind !== "atomic") {
      const element = elementOfItem(list, item);
      if (!element.ok || (seen.has(element.value) && !options.allowDuplicates)) return false;
      seen.add(element.value);
    }
    if (!fits(list.element, item, options, depth + 1, known[index])) return false;
  }
  return true;
}

type Walk = ValidateOptions & { readonly path: PathElement[]; readonly problems: string[] };

function report(walk: Walk, message: string): void {
  walk.problems.push(walk.path.length === 0 ? message : `${pathText(walk.path)}: ${message}`);
}

function visit(walk: Walk, type: TypeSchema, value: Json): void {
  if (walk.path.length > MAX_DEPTH) return report(walk, `nested deeper than ${MAX_DEPTH} levels`);
  switch (shapeOf(type, value)) {
    case "map":
      return type.map && visitMap(walk, type.map, value);
    case "list":
      return type.list && visitList(walk, type.list, value);
    case "scalar":
      return type.scalar && visitScalar(walk, type.scalar, value);
    case undefined:
      return report(walk, "schema error: invalid atom: inlined");
  }
}

function visitBelow(walk: Walk, element: PathElement, below: { readonly type: TypeSchema; readonly value: Json }): void {
  walk.path.push(element);
  visit(walk, below.type, below.value);
  walk.path.pop();
}

function visitScalar(walk: Walk, scalar: ScalarType, value: Json): void {
  const problem = scalarProblem(scalar, value);
  if (problem !== undefined) report(walk, problem);
}

function scalarProblem(scalar: ScalarType, value: Json): string | undefined {
  if (value === null) return undefined;
  switch (scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goTypeText(value)}`;
    case "string":
      return typeof value === "string" ? undefined : `expected string, got &value.valueUnstructured{Value:${goSourceText(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goPlainText(value)}}`;
    case "untyped":
      return typeof value === "object" ? `expected any scalar, got &{${goPlainText(value)}}` : undefined;
  }
}

function visitMap(walk: Walk, map: MapSchema, value: Json): void {
  if (value === null) return;
  if (!isJsonObject(value)) return report(walk, `expected map, got &{${goPlainText(value)}}`);
  // a real server mostly traverses maps in sorted order; an undeclared field ends the traversal
  for (const name of Object.keys(value).toSorted()) {
    const below = value[name];
    if (below === undefined) continue;
    const type = fieldType(map, name);
    if (type === undefined) return reportUndeclared(walk, name);
    visitBelow(walk, fieldElement(name), { type, value: below });
  }
}

function reportUndeclared(walk: Walk, name: string): void {
  walk.path.push(fieldElement(name));
  report(walk, "field not declared in schema");
  walk.path.pop();
}

function visitList(walk: Walk, list: ListSchema, value: Json): void {
  if (value === null) return;
  if (!Array.isArray(value)) return report(walk, `expected list, got &{${goPlainText(value)}}`);
  const items: readonly Json[] = value;
  const seen = new Set<PathElement>();
  for (const [index, item] of items.entries()) {
    const element = list.kind === "atomic" ? ok(indexElement(index)) : elementOfItem(list, item);
    if (!element.ok) return report(walk, `element ${index}: ${element.error}`);
    if (seen.has(element.value) && !walk.allowDuplicates) report(walk, `duplicate entries for key ${elementText(element.value)}`);
    seen.add(element.value);
    visitBelow(walk, element.value, { type: list.element, value: item });
  }
}
