/** Renders the templates in `params`. Texts on the first level may be sensitive; deeper texts cannot be marked as sensitive, so a sensitive one is refused. */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { MOST_PROBLEMS, renderText, type TemplateScope, type TemplateProblem, type Value } from "../templates/index.ts";
import type { Param, Params } from "./params.ts";

/** Most resources have none. */
const NONE: Result<Params, never> = ok(new Map());

/** The message begins with the path: `params.database: …`. */
export function renderParams(params: JsonObject, scope: TemplateScope): Result<Params, readonly TemplateProblem[]> {
  if (Object.keys(params).length === 0) return NONE;
  const rendered = new Map<string, Param>();
  const rendering: Rendering = { scope, problems: [] };
  for (const [name, given] of Object.entries(params)) {
    if (given !== undefined) rendered.set(name, renderParam(given, `params.${shownName(name)}`, rendering));
    if (isFull(rendering)) break;
  }
  return rendering.problems.length > 0 ? err(rendering.problems) : ok(rendered);
}

type Rendering = { readonly scope: TemplateScope; readonly problems: TemplateProblem[] };

/** The limit of reported mistakes is reached: the rest is not rendered. */
function isFull({ scope, problems }: Rendering): boolean {
  return problems.length >= MOST_PROBLEMS || (scope.budget.isExceeded && problems.length > 0);
}

const LONGEST_SHOWN = 64;

/** Names of params are free text, so they are truncated in messages. */
export function shownName(name: string): string {
  return name.length <= LONGEST_SHOWN ? name : `${name.slice(0, LONGEST_SHOWN)}…`;
}

const NOTHING: Param = { kind: "json", json: null };

/** After a mistake the value does not matter. */
function renderParam(given: Json, where: string, rendering: Rendering): Param {
  if (typeof given !== "string") return { kind: "json", json: renderJson(given, where, rendering) };
  const value = renderValue(given, where, rendering);
  return value === undefined ? NOTHING : { kind: "text", value };
}

function renderValue(given: string, where: string, { scope, problems }: Rendering): Value | undefined {
  const text = renderText(given, scope);
  if (text.ok) return text.value.value;
  problems.push(...text.error.map((problem) => ({ ...problem, message: `${where}: ${problem.message}`, field: where })));
  return undefined;
}

function renderJson(given: Json, where: string, rendering: Rendering): Json {
  if (isFull(rendering)) return null;
  if (typeof given === "string") return renderOpenly(given, where, rendering);
  if (Array.isArray(given)) return given.map((item: Json, index) => renderJson(item, `${where}[${index}]`, rendering));
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, inner]) => [name, renderJson(inner ?? null, `${where}.${shownName(name)}`, rendering)]),
  );
}

function renderOpenly(given: string, where: string, rendering: Rendering): Json {
  const value = renderValue(given, where, rendering);
  if (value === undefined) return null;
  if (value.kind === "plain") return value.text;
  rendering.problems.push({ message: `${where} is sensitive; only texts directly below params may be`, field: where, line: 1, column: 1 });
  return null;
}
