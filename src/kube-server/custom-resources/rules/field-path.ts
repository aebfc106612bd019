/** Paths in the syntax of rules and selectable fields: `.spec.a`, `.labels['a.b']`. Each step must be in the schema. */
import { err, ok, type Result } from "#base";
import { child, key, type CausePath } from "../causes/field-path.ts";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";

export type SchemaPath = { readonly path: string; readonly schema: JsonSchema | undefined };

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["'", "'"],
  ["\\", "\\"],
]);

export function readFieldPath(text: string, root: JsonSchema, allowBrackets = true): Result<SchemaPath, string> {
  let at: { path: CausePath; schema: JsonSchema | undefined } = { path: undefined, schema: root };
  const tokens = tokensOf(text);
  for (let next = 0; next < tokens.length;) {
    const step = readStep(tokens, next, allowBrackets);
    if (!step.ok) return step;
    const moved = moveTo(at, step.value.name);
    if (!moved.ok) return moved;
    at = moved.value;
    next = step.value.next;
  }
  return ok({ path: at.path ?? "<nil>", schema: at.schema });
}

function tokensOf(text: string): readonly string[] {
  return text.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gsu) ?? [];
}

function readStep(
  tokens: readonly string[],
  start: number,
  allowBrackets: boolean,
): Result<{ readonly name: string; readonly next: number }, string> {
  const token = tokens[start] ?? "";
  const name = tokens[start + 1];
  if (token !== "." && token !== "[") return err(`expected [ or . but got: ${token}`);
  if (token === "[" && !allowBrackets) return err("array notation is not allowed");
  if (name === undefined) return err("unexpected end of JSON path");
  if (token === ".") return ok({ name, next: start + 2 });
  if (!/^'.*'$/s.test(name) || name.length < 2) return err(`expected single quoted string but got ${name}`);
  const unescaped = unescapeQuoted(name.slice(1, -1));
  if (!unescaped.ok) return unescaped;
  const close = tokens[start + 2];
  if (close === undefined) return err("unexpected end of JSON path");
  return close === "]" ? ok({ name: unescaped.value, next: start + 3 }) : err(`expected ] but got ${close}`);
}

function unescapeQuoted(text: string): Result<string, string> {
  let bad: string | undefined;
  const value = text.replace(/\\./gsu, (escape) => {
    const known = ESCAPES.get(escape.slice(1));
    if (known === undefined) bad = escape;
    return known ?? "";
  });
  return bad === undefined ? ok(value) : err(`invalid string literal: invalid escape char ${bad}`);
}

function moveTo(
  at: { readonly path: CausePath; readonly schema: JsonSchema | undefined },
  name: string,
): Result<{ path: CausePath; schema: JsonSchema | undefined }, string> {
  const { schema } = at;
  if (schema?.properties !== undefined) {
    const property = schema.properties.get(name);
    return property === undefined ? err("does not refer to a valid field") : ok({ path: child(at.path, name), schema: property });
  }
  if (schema?.additionalProperties === undefined) return err("does not refer to a valid field");
  return ok({ path: key(at.path, name), schema: valueSchema(schema) });
}
