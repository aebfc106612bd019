/**
 * Params that limit an agreement to ports, methods and paths. This is their only parser; the service and its mesh node use its result.
 *
 * An invalid value is an error and never means "all": a declaration with a mistake opens nothing.
 */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { parsePortName, type Json } from "#kube";
import { hasEmptySegment, resolvedUrlPath } from "../paths.ts";
import { HTTP_METHODS } from "./http-methods.ts";
import { openText, problem, problemsIn, type Params } from "./params.ts";
import type { ResourceProblem } from "./provisioner.ts";

export const AGREEMENT_PARAMS = ["ports", "methods", "paths"] as const;

export type AgreementParams = {
  /** Names or numbers; undefined: all. */
  readonly ports: readonly (string | number)[] | undefined;
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly string[] | undefined;
};

/** An agreement without limits. */
export const EVERYTHING: AgreementParams = { ports: undefined, methods: undefined, paths: undefined };

/** Ports of the service itself, by name, which an inbound declaration may list. */
export type OwnPorts = ReadonlyMap<string, number>;

/** `own`: set when the declaration refers to this service's ports only. */
export function agreementParams(params: Params, own?: OwnPorts): Result<AgreementParams, ResourceProblem> {
  if (params.size === 0) return ok(EVERYTHING);
  const ports = listOf(params, PORTS, (item) => portOf(item, own));
  const methods = listOf(params, METHODS, methodOf);
  const paths = listOf(params, PATHS, pathOf);
  if (ports.ok && methods.ok && paths.ok) return ok({ ports: ports.value, methods: methods.value, paths: paths.value });
  return problemsIn([ports, methods, paths]);
}

type ListRule = { readonly name: (typeof AGREEMENT_PARAMS)[number]; readonly all: string; readonly example: string; readonly most: number };

const PORTS: ListRule = { name: "ports", all: "all ports", example: "[http]", most: 32 };
const METHODS: ListRule = { name: "methods", all: "all methods", example: "[GET]", most: 64 };
const PATHS: ListRule = { name: "paths", all: "all paths", example: "[/api/*]", most: 64 };

function listOf<T extends string | number>(
  params: Params,
  { name, all, example, most }: ListRule,
  read: (item: string | number) => Result<T, string>,
): Result<readonly T[] | undefined, ResourceProblem> {
  const place = `params.${name}`;
  const mistake = (message: string, at = place) => problem(`${at}: ${message}`, at);
  if (!params.has(name)) return ok(undefined);
  const items = itemsOf(params, name);
  if (!items.ok) return items;
  if (items.value === undefined) return mistake(`must be a list, such as ${example}`);
  if (items.value.length === 0) return mistake(`must not be empty; leave it out to mean ${all}`);
  if (items.value.length > most) return mistake(`must have at most ${most} items, and has ${items.value.length}`);
  const values: T[] = [];
  const wrong: Result<never, ResourceProblem>[] = [];
  for (const [at, item] of items.value.entries()) {
    const value: Result<T, string> =
      typeof item === "string" || typeof item === "number" ? read(item) : err(`must be a text, as in ${example}`);
    if (!value.ok) wrong.push(mistake(value.error, `${place}[${at}]`));
    else if (values.includes(value.value))
      wrong.push(mistake(`${shown(item)} is in the list already; remove one of the two`, `${place}[${at}]`));
    else values.push(value.value);
  }
  if (values.length > 1 && values.some((value) => value === ANY))
    wrong.push(mistake(`"${ANY}" means all; remove the others, or remove it`));
  return wrong.length > 0 ? problemsIn(wrong) : ok(values);
}

/** undefined: not a list. */
function itemsOf(params: Params, name: string): Result<readonly Json[] | undefined, ResourceProblem> {
  const param = params.get(name);
  if (param?.kind === "json") return ok(Array.isArray(param.json) ? (param.json as readonly Json[]) : undefined);
  const text = openText(params, name);
  return text.ok ? ok(undefined) : text;
}

const LONGEST_SHOWN = 64;

/** The value as given, truncated: user input may be long. */
function shown(item: Json): string {
  const text = JSON.stringify(item);
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}

const HIGHEST_PORT = 65_535;

function portOf(item: string | number, own: OwnPorts | undefined): Result<string | number, string> {
  const port = typeof item === "number" || /^[0-9]+$/.test(item) ? Number(item) : item;
  if (typeof port === "number") {
    if (!Number.isInteger(port) || port < 1 || port > HIGHEST_PORT) return err(`${shown(item)} must be between 1 and ${HIGHEST_PORT}`);
  } else if (!parsePortName(port).ok) return err(`${shown(item)} must be the name or the number of a port, such as http`);
  if (own === undefined) return ok(port);
  const known = typeof port === "number" ? [...own.values()].includes(port) : own.has(port);
  if (known) return ok(port);
  const there = own.size === 0 ? "it has none" : `it has ${[...own].map(([name, number]) => `${name} (${number})`).join(", ")}`;
  return err(`this service has no port ${shown(item)}${didYouMean(String(port), own.keys())}; ${there}`);
}

/** Any method. */
const ANY = "*";

function methodOf(item: string | number): Result<string, string> {
  const method = String(item);
  if (method === ANY || HTTP_METHODS.has(method)) return ok(method);
  return err(`${shown(item)} must be an HTTP method in upper case, such as GET${didYouMean(method, HTTP_METHODS)}`);
}

const LONGEST_PATH = 1_024;

// Istio matches the path without the query, and accepts a "*" at one end: "/api/*" is a prefix, "*/health" a suffix
function pathOf(item: string | number): Result<string, string> {
  const path = String(item);
  const isPath = path.length <= LONGEST_PATH && /^(?:\/[^\s?#*]*\*?|\*(?:\/[^\s?#*]*)?)$/.test(path);
  const resolved = isPath && path.startsWith("/") ? resolvedUrlPath(path) : path;
  if (resolved !== path)
    return err(`${shown(item)} matches no request: the mesh resolves ".", ".." and "\\\\" in requests first; write ${resolved}`);
  if (isPath) return ok(path);
  return err(
    `${shown(item)} must begin with "/", have at most ${LONGEST_PATH} characters, no space, "?" or "#", and "*" only at one end, such as /api/* or */health`,
  );
}

/** Warnings about legal paths that are probably mistakes. */
export function pathWarnings({ paths = [] }: AgreementParams): readonly string[] {
  return paths.flatMap((path, at) => {
    if (!hasEmptySegment(path)) return [];
    const single = path.replace(/\/{2,}/g, "/");
    return [`params.paths[${at}]: ${shown(path)} matches only requests with two slashes; write ${single} if one is meant`];
  });
}

/** Whether two agreements allow the same requests. */
export function sameRequests(one: AgreementParams, other: AgreementParams): boolean {
  const text = ({ methods, paths }: AgreementParams) => JSON.stringify([methods?.toSorted() ?? null, paths?.toSorted() ?? null]);
  return text(one) === text(other);
}
