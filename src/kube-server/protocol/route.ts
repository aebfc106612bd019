/**
 * Maps a parsed request to the kind, the object and the verb that was authorized.
 *
 * The deprecated `/watch/` paths are still served for GET, as on a real server. An unknown group is `undefined`: a real server responds with
 * its plain 404 page.
 */
import { ok, type Result } from "#base";
import type { ResourceType } from "../resource-type.ts";
import type { ResourceRequest } from "./request-info.ts";
import { badRequest, methodNotAllowed, notFound, unknownResource, type Failure } from "./status.ts";
import type { TypeRegistry } from "./type-registry.ts";

const ALL_VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
export type Verb = (typeof ALL_VERBS)[number];
const VERBS: ReadonlyMap<string, Verb> = new Map(ALL_VERBS.map((verb) => [verb, verb]));

export type RequestTarget = {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The segments after a subresource: `pods/x/proxy/a/b`. */
  readonly rest: readonly string[];
  readonly verb: Verb;
};

type Place = Omit<RequestTarget, "verb">;

/** `undefined`: no such group. */
export function routeOf(info: ResourceRequest, method: string, types: TypeRegistry): Result<RequestTarget, Failure> | undefined {
  const { group, version, name, subresource, rest } = info;
  // "/apis//v1/pods" and "//api/v1/pods" are not served
  if (!info.path.startsWith(group === "" ? "/api/" : "/apis/") || !types.hasGroup(group)) return undefined;
  // unknown resources of a custom group get the plain 404 page
  const unknown = () => (types.isCustomGroup(group) ? undefined : unknownResource());
  if (!types.hasVersion(group, version)) return unknown();
  const type = types.find(group, version, info.resource);
  if (type === undefined || !isPathAllowed(info, type)) return unknown();
  const place = { type, namespace: info.inNamespace ? info.namespace : undefined, name, subresource, rest };
  if (subresource !== undefined && !type.subresources.has(subresource))
    return type.custom ? notFound({ resource: type.resource, name: name ?? "" }) : unknown();
  if (isReview(place) && !isReviewPath(place)) return unknown();
  const verb = verbOf(info, method, place);
  const lacksNamespace = type.resource.namespaced && (place.namespace ?? "") === "";
  if (type.custom && lacksNamespace && verb !== "list" && verb !== "watch") return unknown();
  if (verb === undefined) {
    const nameless = name === undefined && (method === "PUT" || method === "PATCH");
    return type.custom && nameless ? badRequest("name must be provided") : methodNotAllowed();
  }
  return checkNames({ ...place, verb });
}

/** A namespaced object can only be named below its namespace. `/watch/` has no subresources, `/proxy/` is no longer served. */
function isPathAllowed(info: ResourceRequest, type: ResourceType): boolean {
  const { inNamespace, name, prefixed, verb, subresource } = info;
  if (prefixed && (verb !== "watch" || subresource !== undefined)) return false;
  return type.resource.namespaced ? inNamespace || name === undefined : !inNamespace;
}

/** Empty names are parsed as names and rejected here. */
function checkNames(target: RequestTarget): Result<RequestTarget, Failure> {
  const { namespace, name, verb } = target;
  if (namespace === "" && verb !== "create") {
    return name === undefined ? ok({ ...target, namespace: undefined }) : badRequest("Namespace parameter required.");
  }
  if (name === "") return badRequest("name must be provided");
  const unusable = name === "." || name === "..";
  return unusable ? badRequest(`Name parameter invalid: "${name}": may not be '${name}'`) : ok(target);
}

/** Kinds that can only be created (reviews) are evaluated and never stored. */
export function isReview({ type, subresource }: Pick<RequestTarget, "type" | "subresource">): boolean {
  return subresource === undefined && type.verbs.every((verb) => verb === "create");
}

/** Reviews have no names; namespaced ones need a namespace in the path. */
function isReviewPath({ type, namespace, name }: Pick<RequestTarget, "type" | "namespace" | "name">): boolean {
  return name === undefined && type.resource.namespaced === (namespace !== undefined);
}

/** The verb that was authorized, or `undefined` if the method is not allowed. Any other verb would bypass authorization. */
function verbOf(info: ResourceRequest, method: string, place: Place): Verb | undefined {
  const { type, namespace, name, subresource } = place;
  const verb = VERBS.get(info.verb);
  if (verb === undefined || !isMethodAllowed(info, method, type)) return undefined;
  // custom resources accept a POST to a name, and ignore the name
  if (verb === "create" && name !== undefined && subresource === undefined && !type.custom) return undefined;
  if ((verb === "update" || verb === "patch") && name === undefined) return undefined;
  const acrossNamespaces = type.resource.namespaced && (namespace ?? "") === "";
  if (acrossNamespaces && (namespace === undefined ? verb !== "list" && verb !== "watch" : verb === "deletecollection")) return undefined;
  return subresource !== undefined || type.verbs.includes(verb) ? verb : undefined;
}

/** HEAD is served for custom resources only. `/watch/` paths allow only GET. */
function isMethodAllowed(info: ResourceRequest, method: string, type: ResourceType): boolean {
  return method === "HEAD" ? type.custom && !info.prefixed : method === "GET" || !info.prefixed;
}
