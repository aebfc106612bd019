/** The templates in `params` filled in. Texts on the first level may be sensitive; deeper down nothing can say so, and it is refused. */
import { err, ok, type Result } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import { renderText, type Scope, type TemplateProblem } from "../templates/index.ts";
import type { Param, Params } from "./params.ts";

/** Most resources have none. */
const NONE: Result<Params, never> = ok(new Map());

/** The message begins with where: `params.database: …`. */
export function renderParams(params: JsonObject, scope: Scope): Result<Params, readonly TemplateProblem[]> {
  if (Object.keys(params).length === 0) return NONE;
  const rendered = new Map<string, Param>();
  const problems: TemplateProblem[] = [];
  for (const [name, given] of Object.entries(params)) {
    if (given === undefined) continue;
    const param = renderParam(given, scope, `params.${name}`);
    if (param.ok) rendered.set(name, param.value);
    else problems.push(...param.error);
  }
  return problems.length > 0 ? err(problems) : ok(rendered);
}

function renderParam(given: Json, scope: Scope, where: string): Result<Param, readonly TemplateProblem[]> {
  if (typeof given === "string") {
    const text = renderText(given, scope);
    return text.ok ? ok({ kind: "text", value: text.value.value }) : err(placed(text.error, where));
  }
  const json = renderJson(given, scope, where);
  return json.ok ? ok({ kind: "json", json: json.value }) : json;
}

function placed(problems: readonly TemplateProblem[], where: string): readonly TemplateProblem[] {
  return problems.map((problem) => ({ ...problem, message: `${where}: ${problem.message}` }));
}

function renderJson(given: Json, scope: Scope, where: string): Result<Json, readonly TemplateProblem[]> {
  if (typeof given === "string") return renderOpenly(given, scope, where);
  if (Array.isArray(given)) {
    const items = given.map((item: Json, index) => renderJson(item, scope, `${where}[${index}]`));
    const problems = items.flatMap((item) => (item.ok ? [] : item.error));
    return problems.length > 0 ? err(problems) : ok(items.flatMap((item) => (item.ok ? [item.value] : [])));
  }
  if (!isJsonObject(given)) return ok(given);
  const entries = Object.entries(given).map(([name, inner]) => [name, renderJson(inner ?? null, scope, `${where}.${name}`)] as const);
  const problems = entries.flatMap(([, inner]) => (inner.ok ? [] : inner.error));
  if (problems.length > 0) return err(problems);
  return ok(Object.fromEntries(entries.flatMap(([name, inner]) => (inner.ok ? [[name, inner.value]] : []))));
}

function renderOpenly(given: string, scope: Scope, where: string): Result<Json, readonly TemplateProblem[]> {
  const text = renderText(given, scope);
  if (!text.ok) return err(placed(text.error, where));
  const { value } = text.value;
  if (value.kind === "plain") return ok(value.text);
  return err([{ message: `${where} is sensitive; only texts directly below params may be`, line: 1, column: 1 }]);
}
