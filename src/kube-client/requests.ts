/**
 * The HTTP request of each call. Pure.
 *
 * An empty name is refused before anything is sent: `DELETE …/configmaps/` would delete the whole collection.
 */
import { ok, type Result } from "#base";
import { keyOf, pathOf, type KubeObject, type ObjectKey, type Resource, type Subresource } from "#kube";
import { failure, type KubeError } from "./errors.ts";
import type { ApplyOptions, DeleteCollectionQuery, DeleteOptions, ListQuery, PatchBody, PatchOptions, WatchQuery } from "./ports.ts";
import type { TransportRequest } from "./transport.ts";

/** A request whose body is a value: it is encoded only for transports that need text. */
export type KubeRequest = Omit<TransportRequest, "body"> & { readonly content?: unknown };
export type Prepared = Result<KubeRequest, KubeError>;
type WriteOptions = { readonly fieldManager?: string; readonly subresource?: Subresource };
type Query = readonly (readonly [name: string, value: string | undefined])[];

const ACCEPT = { accept: "application/json" };
/** Servers that cannot return only metadata send the whole object, which is accepted as well. */
const ACCEPT_METADATA = {
  object: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json" },
  list: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json" },
};
const JSON_BODY = { ...ACCEPT, "content-type": "application/json" };
const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;
/** Unknown fields are warnings, not errors: an object may be newer than the CRD of the server. */
const VALIDATION = ["fieldValidation", "Warn"] as const;

export function getRequest(resource: Resource, key: ObjectKey): Prepared {
  return onObject(resource, key, undefined, (path) => ({ method: "GET", path, headers: accepted(resource, "object") }));
}

export function listRequest(resource: Resource, query: ListQuery): Prepared {
  return onCollection(resource, query.namespace, (path) => ({
    method: "GET",
    path: withQuery(path, [
      ...selectors(query),
      ["limit", text(query.limit)],
      ["continue", query.continue],
      ["resourceVersion", query.resourceVersion],
    ]),
    headers: accepted(resource, "list"),
  }));
}

export function watchRequest(resource: Resource, query: WatchQuery): Prepared {
  return onCollection(resource, query.namespace, (path) => ({
    method: "GET",
    path: withQuery(path, [
      ["watch", "true"],
      ["allowWatchBookmarks", "true"],
      ...selectors(query),
      ["resourceVersion", query.resourceVersion],
      ["timeoutSeconds", text(query.timeoutSeconds)],
    ]),
    headers: accepted(resource, "object"),
  }));
}

export function createRequest(resource: Resource, object: KubeObject, options: WriteOptions): Prepared {
  const namespace = object.metadata.namespace;
  if (resource.namespaced && namespace === undefined) return needsNamespace(resource, object.metadata.name);
  return onCollection(resource, namespace, (path) => ({
    method: "POST",
    path: withQuery(path, [["fieldManager", options.fieldManager], VALIDATION]),
    headers: { ...JSON_BODY, ...accepted(resource, "object") },
    content: object,
  }));
}

export function updateRequest(resource: Resource, object: KubeObject, options: WriteOptions): Prepared {
  return onObject(resource, keyOf(object), options.subresource, (path) => ({
    method: "PUT",
    path: withQuery(path, [["fieldManager", options.fieldManager], VALIDATION]),
    headers: { ...JSON_BODY, ...accepted(resource, "object") },
    content: object,
  }));
}

export function applyRequest(resource: Resource, object: KubeObject, options: ApplyOptions): Prepared {
  return onObject(resource, keyOf(object), options.subresource, (path) => ({
    method: "PATCH",
    path: withQuery(path, [
      ["fieldManager", options.fieldManager],
      ["force", flag(options.force)],
      ["dryRun", dryRun(options.dryRun)],
      VALIDATION,
    ]),
    // JSON is YAML, and servers before 1.32 accept only this media type
    headers: { ...ACCEPT, "content-type": "application/apply-patch+yaml" },
    content: object,
  }));
}

export function patchRequest(resource: Resource, key: ObjectKey, body: PatchBody, options: PatchOptions): Prepared {
  return onObject(resource, key, options.subresource, (path) => ({
    method: "PATCH",
    path: withQuery(path, [["fieldManager", options.fieldManager], ["dryRun", dryRun(options.dryRun)], VALIDATION]),
    headers: { ...accepted(resource, "object"), "content-type": PATCH_TYPES[body.type] },
    content: body.type === "json" ? body.operations : body.patch,
  }));
}

export function deleteRequest(resource: Resource, key: ObjectKey, options: DeleteOptions): Prepared {
  const content = deleteOptions(options);
  return onObject(resource, key, undefined, (path) => ({ method: "DELETE", path, headers: JSON_BODY, content }));
}

export function deleteCollectionRequest(resource: Resource, query: DeleteCollectionQuery, options: DeleteOptions): Prepared {
  if (resource.namespaced && (query.namespace ?? "") === "") {
    return failure(
      "bad-request",
      `deleting ${resource.plural} needs a namespace: collections of all namespaces are not deleted`,
      "useless",
    );
  }
  const content = deleteOptions(options);
  // the response has the deleted objects, which are not read: request only their metadata
  const headers = { ...JSON_BODY, ...ACCEPT_METADATA.list };
  return onCollection(resource, query.namespace, (path) => {
    return { method: "DELETE", path: withQuery(path, selectors(query)), headers, content };
  });
}

export function rawRequest(path: string): Prepared {
  if (!/^\/[!-~]*$/.test(path)) return failure("bad-request", 'a raw path must begin with "/" and contain only URL characters', "useless");
  return ok({ method: "GET", path, headers: { accept: "application/json, text/plain, */*" } });
}

export function withText({ content, ...request }: KubeRequest): TransportRequest {
  return content === undefined ? request : { ...request, body: JSON.stringify(content) };
}

function onObject(resource: Resource, key: ObjectKey, subresource: Subresource | undefined, make: (path: string) => KubeRequest): Prepared {
  if (!isPathSegment(key.name)) return failure("bad-request", `"${key.name}" cannot be the name of a ${resource.kind}`, "useless");
  if (resource.namespaced && key.namespace === undefined) return needsNamespace(resource, key.name);
  const { namespace, name } = key;
  return unusableNamespace(resource, namespace) ?? ok(make(pathOf(resource, { namespace, name, subresource })));
}

function onCollection(resource: Resource, namespace: string | undefined, make: (path: string) => KubeRequest): Prepared {
  return unusableNamespace(resource, namespace) ?? ok(make(pathOf(resource, { namespace })));
}

function unusableNamespace(resource: Resource, namespace: string | undefined): Prepared | undefined {
  if (namespace === undefined || isPathSegment(namespace)) return undefined;
  return failure("bad-request", `"${namespace}" cannot be the namespace of a ${resource.kind}`, "useless");
}

function needsNamespace(resource: Resource, name: string): Prepared {
  return failure("bad-request", `${resource.kind} "${name}" needs a namespace: the kind is namespaced`, "useless");
}

/** The names that Kubernetes allows in a path: "." and ".." would change the path after normalisation. */
function isPathSegment(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/%]/.test(name);
}

function deleteOptions({ propagation, preconditions, gracePeriodSeconds }: DeleteOptions) {
  return { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: propagation, preconditions, gracePeriodSeconds };
}

function accepted(resource: Resource, shape: "object" | "list"): Readonly<Record<string, string>> {
  return resource.view === "metadata" ? ACCEPT_METADATA[shape] : ACCEPT;
}

function selectors(query: DeleteCollectionQuery): Query {
  return [
    ["labelSelector", query.labelSelector],
    ["fieldSelector", query.fieldSelector],
  ];
}

function withQuery(path: string, query: Query): string {
  let [url, mark] = [path, "?"];
  for (const [name, value] of query) {
    if (value === undefined || value === "") continue;
    url += `${mark}${name}=${encodeURIComponent(value)}`;
    mark = "&";
  }
  return url;
}

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function flag(value: boolean | undefined): string | undefined {
  return value === true ? "true" : undefined;
}

function dryRun(value: boolean | undefined): string | undefined {
  return value === true ? "All" : undefined;
}
