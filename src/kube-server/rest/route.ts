/**
 * A path, taken apart: which resource, which object, which subresource, and what is to be done with it.
 *
 * The deprecated `/watch/` paths are still served, as on a real server. A group nobody knows is not an error of ours to word: the real
 * server falls through to its plain 404 page, so the caller gets `undefined`.
 */
import { ok, type Result } from "#base";
import type { ResourceType } from "../resource-type.ts";
import type { ApiRequest } from "./request.ts";
import { badRequest, methodNotAllowed, notFound, unknownResource, type Failure } from "./status.ts";
import type { TypeRegistry } from "./type-registry.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

export type Target = {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What stands behind a subresource: `pods/x/proxy/a/b`. */
  readonly rest: readonly string[];
  readonly verb: Verb;
};

type Place = Omit<Target, "verb"> & { readonly watching: boolean };

/** A slash is a slash, encoded or not; those at the end count for nothing. */
export function resourceSegments(path: string): readonly string[] | undefined {
  const plain = decodedPath(path);
  if (plain === undefined || !(plain.startsWith("/api/") || plain.startsWith("/apis/"))) return undefined;
  return (plain.endsWith("/") ? plain.replace(/\/+$/, "") : plain).slice(1).split("/");
}

/** `undefined`: a broken percent sign, which names nothing. */
export function decodedPath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** `undefined`: no such group. */
export function routeOf(request: ApiRequest, segments: readonly string[], types: TypeRegistry): Result<Target, Failure> | undefined {
  const core = segments[0] === "api";
  const [group, version] = core ? ["", segments[1] ?? ""] : [segments[1] ?? "", segments[2] ?? ""];
  if (core !== (group === "") || !types.hasGroup(group)) return undefined;
  // behind a custom group there is nothing but what its definitions serve, and the plain 404 page
  const unknown = () => (types.isCustomGroup(group) ? undefined : unknownResource());
  if (!types.hasVersion(group, version)) return unknown();
  const place = placeOf(segments.slice(core ? 2 : 3), (plural) => types.find(group, version, plural));
  if (place === undefined) return unknown();
  const { type, namespace, name, subresource, rest } = place;
  if (subresource !== undefined && !type.subresources.has(subresource))
    return type.custom ? notFound({ resource: type.resource, name: name ?? "" }) : unknown();
  if (isQuestion(place) && !isPlaceOfQuestions(place)) return unknown();
  const verb = verbOf(request, place);
  const isHomeless = type.resource.namespaced && (namespace ?? "") === "";
  if (type.custom && isHomeless && verb !== "list" && verb !== "watch") return unknown();
  if (verb === undefined) {
    const nameless = name === undefined && (request.method === "PUT" || request.method === "PATCH");
    return type.custom && nameless ? badRequest("name must be provided") : methodNotAllowed();
  }
  return named({ type, namespace, name, subresource, rest, verb });
}

/** Empty names are names all the same, until somebody looks at them. */
function named(target: Target): Result<Target, Failure> {
  const { namespace, name, verb } = target;
  if (namespace === "" && verb !== "create") {
    return name === undefined ? ok({ ...target, namespace: undefined }) : badRequest("Namespace parameter required.");
  }
  if (name === "") return badRequest("name must be provided");
  const unusable = name === "." || name === "..";
  return unusable ? badRequest(`Name parameter invalid: "${name}": may not be '${name}'`) : ok(target);
}

/** What can only be created is answered and never kept. */
export function isQuestion({ type, subresource }: Pick<Target, "type" | "subresource">): boolean {
  return subresource === undefined && type.verbs.every((verb) => verb === "create");
}

/** Questions have no names, and those about a namespace are asked in it. */
function isPlaceOfQuestions({ type, namespace, name }: Pick<Target, "type" | "namespace" | "name">): boolean {
  return name === undefined && type.resource.namespaced === (namespace !== undefined);
}

function placeOf(segments: readonly string[], find: (plural: string) => ResourceType | undefined): Place | undefined {
  if (segments[0] === "watch" && segments.length > 1) {
    const place = placeOf(segments.slice(1), find);
    return place === undefined || place.subresource !== undefined ? undefined : { ...place, watching: true };
  }
  const [first = "", namespace = "", plural] = segments;
  if (first === "namespaces" && plural !== undefined) {
    const inside = find(plural);
    if (inside?.resource.namespaced === true) return below(inside, namespace, segments.slice(3));
  }
  const type = find(first);
  if (type === undefined) return undefined;
  // a namespaced object without its namespace cannot be named
  if (type.resource.namespaced && segments.length > 1) return undefined;
  return below(type, undefined, segments.slice(1));
}

function below(type: ResourceType, namespace: string | undefined, rest: readonly string[]): Place {
  const [name, subresource, ...more] = rest;
  return { type, namespace, name, subresource, rest: more, watching: false };
}

const BY_METHOD: ReadonlyMap<string, (place: Place) => Verb | undefined> = new Map<string, (place: Place) => Verb | undefined>([
  ["GET", ({ name }) => (name === undefined ? "list" : "get")],
  ["POST", ({ name, subresource }) => (name === undefined || subresource !== undefined ? "create" : undefined)],
  ["PUT", ({ name }) => (name === undefined ? undefined : "update")],
  ["PATCH", ({ name }) => (name === undefined ? undefined : "patch")],
  ["DELETE", ({ name }) => (name === undefined ? "deletecollection" : "delete")],
]);

function verbOf(request: ApiRequest, place: Place): Verb | undefined {
  // custom resources answer HEAD as they answer GET
  const method = request.method === "HEAD" && place.type.custom ? "GET" : request.method;
  // and take what is sent to a name that they do not look at
  const creates = method === "POST" && place.type.custom && place.subresource === undefined;
  const verb = creates ? "create" : BY_METHOD.get(method)?.(place);
  if (verb === undefined) return undefined;
  const { resource, verbs } = place.type;
  const acrossNamespaces = resource.namespaced && (place.namespace ?? "") === "";
  if (acrossNamespaces && (place.namespace === undefined ? verb !== "list" : verb === "deletecollection")) return undefined;
  if (place.subresource !== undefined) return verb;
  const asked = verb === "list" || verb === "get" ? watchAsked(request, place, verb) : verb;
  return verbs.includes(asked) ? asked : undefined;
}

/** `?watch` counts on a collection and on an object alike. */
function watchAsked(request: ApiRequest, place: Place, verb: Verb): Verb {
  if (place.watching) return "watch";
  const asked = request.query.get("watch");
  return verb === "list" && asked !== null && isTrue(asked) ? "watch" : verb;
}

/** A flag of a query string: whatever is not a clear no is a yes, the empty text too. */
export function isTrue(text: string): boolean {
  return !["0", "false"].includes(text.toLowerCase());
}
