/**
 * The verb and resource of a request, parsed once from its method, path and query. Authorization and routing both use this value: two parsers
 * would disagree somewhere, and a request would be authorized as one thing and executed as another.
 *
 * It does not depend on what is served: authorization runs first, so that a caller without rights does not learn which resources exist.
 * The rules are those of kube-apiserver's RequestInfo. A Go server decodes the path before splitting it, so an encoded slash separates.
 */
import { err, ok, type Result } from "#base";
import { exactName, parseFieldTerms } from "./field-selector.ts";
import type { ApiRequest } from "./request.ts";

export type ResourceRequest = {
  readonly kind: "resource";
  /** The verb that is authorized and executed; "" for a method that has none. */
  readonly verb: string;
  /** The verb is part of the path (`/api/v1/watch/…`) instead of following from the method. */
  readonly prefixed: boolean;
  readonly group: string;
  readonly version: string;
  /** For `namespaces/NAME` itself: NAME, which RBAC treats as its namespace. "" when the segment is present and empty. */
  readonly namespace: string | undefined;
  /** The path of the resource begins with `namespaces/NAME/`. */
  readonly inNamespace: boolean;
  /** The plural. */
  readonly resource: string;
  /** "" when the segment is present and empty. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The segments after a subresource: `pods/x/proxy/a/b`. */
  readonly rest: readonly string[];
  /** The only name a list or watch can return, according to its field selector. */
  readonly selectedName: string | undefined;
  /** Decoded. */
  readonly path: string;
};

export type PathRequest = { readonly kind: "path"; readonly verb: string; readonly path: string };
export type RequestInfo = ResourceRequest | PathRequest;

export type RequestInfoError =
  /** A percent sign without two hexadecimal digits. */
  | { readonly kind: "malformed-path" }
  /** A verb in the path without a resource after it. */
  | { readonly kind: "no-resource"; readonly message: string };

export type Addressed = Pick<ApiRequest, "method" | "path" | "query">;

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["HEAD", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);
/** Deprecated: verbs as a path prefix. */
const VERB_PREFIXES = new Set(["proxy", "watch"]);
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

export function requestInfoOf(request: Addressed): Result<RequestInfo, RequestInfoError> {
  const path = decodedPath(request.path);
  if (path === undefined) return err({ kind: "malformed-path" });
  const parts = trimSlashes(path).split("/");
  const grouped = parts[0] === "apis";
  const head = grouped ? 3 : 2;
  if ((!grouped && parts[0] !== "api") || parts.length <= head) return ok({ kind: "path", verb: request.method.toLowerCase(), path });
  const [group = "", version = ""] = grouped ? parts.slice(1) : ["", parts[1]];
  const rest = parts.slice(head);
  const prefixed = VERB_PREFIXES.has(rest[0] ?? "");
  if (prefixed && rest.length < 2) return err({ kind: "no-resource", message: noResource(request) });
  const verb = prefixed ? (rest[0] ?? "") : (VERBS.get(request.method) ?? "");
  const place = placeOf(prefixed ? rest.slice(1) : rest, group);
  return ok({ kind: "resource", prefixed, group, version, path, ...place, ...finalVerb(verb, place.name, request.query) });
}

/** Unprefixed methods without a name address a collection. */
function finalVerb(verb: string, name: string | undefined, query: URLSearchParams): Pick<ResourceRequest, "verb" | "selectedName"> {
  if ((name ?? "") !== "") return { verb, selectedName: undefined };
  if (verb === "delete") return { verb: "deletecollection", selectedName: undefined };
  if (verb !== "get") return { verb, selectedName: undefined };
  const watch = query.get("watch");
  return { verb: watch !== null && isTrue(watch) ? "watch" : "list", selectedName: selectedName(query) };
}

type Place = Pick<ResourceRequest, "namespace" | "inNamespace" | "resource" | "name" | "subresource" | "rest">;

/** Stricter than kube-apiserver in one case: a custom resource with the plural `namespaces` is not in the namespace of its own name. */
function placeOf(parts: readonly string[], group: string): Place {
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] ?? "");
  const namespace = inNamespace || (parts[0] === "namespaces" && group === "") ? parts[1] : undefined;
  const [resource = "", name, subresource, ...rest] = inNamespace ? parts.slice(2) : parts;
  return { namespace, inNamespace, resource, name, subresource, rest };
}

/** `resourceNames` of a rule can allow a list that can only return one object. A selector that cannot be parsed selects no name. */
function selectedName(query: URLSearchParams): string | undefined {
  const selector = query.size === 0 ? "" : (query.get("fieldSelector") ?? "");
  const terms = selector === "" ? undefined : parseFieldTerms(selector);
  const name = terms?.ok === true ? exactName(terms.value) : undefined;
  return name !== undefined && isPathSegment(name) ? name : undefined;
}

function isPathSegment(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("/") && !name.includes("%");
}

function decodedPath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function trimSlashes(path: string): string {
  let [from, to] = [0, path.length];
  while (path[from] === "/") from += 1;
  while (to > from && path[to - 1] === "/") to -= 1;
  return path.slice(from, to);
}

function noResource({ path, query }: Addressed): string {
  const url = query.size === 0 ? path : `${path}?${query.toString()}`;
  return `Internal Server Error: ${JSON.stringify(url)}: failed to create RequestInfo: unable to determine kind and namespace from url, ${url}\n`;
}

/** A boolean of a query string: everything except "0" and "false" is true, including the empty text. */
export function isTrue(text: string): boolean {
  return !["0", "false"].includes(text.toLowerCase());
}
