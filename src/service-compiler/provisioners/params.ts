/**
 * Reads the params of a resource by name and type, after their templates are rendered.
 *
 * A number may be a text, as in `"${config.port}"`.
 */
import { err, ok, type Result } from "#base";
import type { Json } from "#kube";
import { plain, type Value } from "../templates/index.ts";
import type { ResourceProblem } from "./provisioner.ts";

/** A text on the first level stays a Value, since it may be sensitive; deeper texts are never sensitive. */
export type Param = { readonly kind: "text"; readonly value: Value } | { readonly kind: "json"; readonly json: Json };

export type Params = ReadonlyMap<string, Param>;

/** `field`: the param with the problem, such as `params.port`. */
export function problem(message: string, field?: string): Result<never, ResourceProblem> {
  return err({ kind: "other", message, ...(field === undefined ? {} : { field }) });
}

/** All problems among the results; there is at least one. */
export function problemsIn(results: readonly Result<unknown, ResourceProblem>[]): Result<never, ResourceProblem> {
  return err({ kind: "several", problems: results.flatMap((result) => (result.ok ? [] : [result.error])) });
}

/** The text, sensitive or not; numbers and booleans as they are written. */
export function textParam(params: Params, name: string, fallback: string): Result<Value, ResourceProblem> {
  const param = params.get(name);
  if (param === undefined) return ok(plain(fallback));
  if (param.kind === "text") return ok(param.value);
  if (typeof param.json === "number" || typeof param.json === "boolean") return ok(plain(String(param.json)));
  return problem(`params.${name} must be a text`, `params.${name}`);
}

/** A text that is stored outside of Secrets, and so must not be sensitive. */
export function openText(params: Params, name: string): Result<string | undefined, ResourceProblem> {
  if (!params.has(name)) return ok(undefined);
  const text = textParam(params, name, "");
  if (!text.ok) return text;
  if (text.value.kind === "plain") return ok(text.value.text);
  return problem(`params.${name} is sensitive, and would be readable without access to Secrets`, `params.${name}`);
}

const HIGHEST_PORT = 65_535;

export function portParam(params: Params, name: string, fallback: number): Result<number, ResourceProblem> {
  const text = openText(params, name);
  if (!text.ok) return text;
  if (text.value === undefined) return ok(fallback);
  const port = /^[0-9]{1,5}$/.test(text.value) ? Number(text.value) : 0;
  if (port >= 1 && port <= HIGHEST_PORT) return ok(port);
  return problem(`params.${name} is ${JSON.stringify(text.value)}; it must be a port from 1 to ${HIGHEST_PORT}`, `params.${name}`);
}

export function flagParam(params: Params, name: string, fallback = false): Result<boolean, ResourceProblem> {
  const text = openText(params, name);
  if (!text.ok) return text;
  if (text.value === undefined) return ok(fallback);
  if (text.value === "false") return ok(false);
  if (text.value === "true") return ok(true);
  return problem(`params.${name} is ${JSON.stringify(text.value)}; it must be true or false`, `params.${name}`);
}

/** A list of texts, or one. */
export function listParam(params: Params, name: string): Result<readonly string[] | undefined, ResourceProblem> {
  const param = params.get(name);
  if (param === undefined) return ok(undefined);
  if (param.kind === "json" && Array.isArray(param.json)) {
    const texts = param.json.map((item) => (typeof item === "string" || typeof item === "number" ? String(item) : undefined));
    const all = texts.filter((text) => text !== undefined);
    return all.length === texts.length ? ok(all) : problem(`params.${name} must be a list of texts`, `params.${name}`);
  }
  const one = openText(params, name);
  return one.ok ? ok(one.value === undefined ? undefined : [one.value]) : one;
}
