/**
 * What a request wants, read from its method and path alone: authorization asks this before anybody knows whether the resource exists.
 *
 * It differs from the router on purpose: `/apis/nope/v1/things` is a list of things here, so that who may not ask is told so, and does not
 * learn what is served. A Go server decodes the path before it takes it apart, so an encoded slash separates, too.
 */
import { err, ok, type Result } from "#base";
import { exactName, parseFieldTerms } from "../rest/field-selector.ts";
import type { ApiRequest } from "../rest/request.ts";
import { isTrue } from "../rest/route.ts";
import type { Access } from "./port.ts";

type Asked = Pick<ApiRequest, "method" | "path" | "query">;

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["HEAD", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);
/** Old ways to say what is wanted in the path. */
const PREFIXES = new Set(["proxy", "watch"]);
/** What stands behind a namespace and is no resource in it. */
const OF_NAMESPACES = new Set(["status", "finalize"]);

export function accessOf(request: Asked): Result<Access, string> {
  const path = decoded(request.path);
  const parts = trimSlashes(path).split("/");
  const grouped = parts[0] === "apis";
  const head = grouped ? 3 : 2;
  if ((!grouped && parts[0] !== "api") || parts.length <= head) return ok({ kind: "path", verb: request.method.toLowerCase(), path });
  const [group = "", version = ""] = grouped ? parts.slice(1) : ["", parts[1]];
  const rest = parts.slice(head);
  const prefixed = PREFIXES.has(rest[0] ?? "");
  if (prefixed && rest.length < 2) {
    const url = `${request.path}${request.query.size === 0 ? "" : `?${request.query.toString()}`}`;
    return err(`failed to create RequestInfo: unable to determine kind and namespace from url, ${url}`);
  }
  const verb = prefixed ? (rest[0] ?? "") : (VERBS.get(request.method) ?? "");
  return ok(resourceAccess({ group, version, verb }, prefixed ? rest.slice(1) : rest, request.query));
}

type Head = { readonly group: string; readonly version: string; readonly verb: string };

function resourceAccess(head: Head, parts: readonly string[], query: URLSearchParams): Access {
  const namespace = parts[0] === "namespaces" ? (parts[1] ?? "") : "";
  const below = parts[0] === "namespaces" && parts.length > 2 && !OF_NAMESPACES.has(parts[2] ?? "");
  const [resource = "", name = "", subresource = ""] = below ? parts.slice(2) : parts;
  const access = {
    kind: "resource" as const,
    ...head,
    resource,
    subresource: subresource === "" || head.verb === "proxy" ? undefined : subresource,
    namespace: namespace === "" ? undefined : namespace,
    name,
  };
  if (name !== "") return access;
  if (head.verb === "get") return { ...access, ...listing(query) };
  return head.verb === "delete" ? { ...access, verb: "deletecollection" } : access;
}

/** A list that can only find one object asks for that object: `resourceNames` of a rule may allow it. */
function listing(query: URLSearchParams): { readonly verb: string; readonly name: string } {
  const watch = query.get("watch");
  const selector = query.get("fieldSelector") ?? "";
  // a selector that cannot be read selects no name; the list itself will say what is wrong with it
  const terms = selector === "" ? undefined : parseFieldTerms(selector);
  const name = terms?.ok === true ? (exactName(terms.value) ?? "") : "";
  return { verb: watch !== null && isTrue(watch) ? "watch" : "list", name: isPathSegment(name) ? name : "" };
}

function isPathSegment(name: string): boolean {
  return name !== "." && name !== ".." && !name.includes("/") && !name.includes("%");
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a broken percent sign names nothing, and the router says so
  }
}

function trimSlashes(path: string): string {
  let [from, to] = [0, path.length];
  while (path[from] === "/") from += 1;
  while (to > from && path[to - 1] === "/") to -= 1;
  return path.slice(from, to);
}
