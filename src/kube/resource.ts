/**
 * A kind in the API: group, version, plural, scope, and its URL paths.
 *
 * `T` exists only at compile time: it is the result type of `client.get(configMaps, …)`.
 */
import type { KubeObject } from "./object.ts";

/** A kind and its URL path. `T` is the type of its objects. */
export type Resource<T extends KubeObject = KubeObject> = {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** "metadata": requests return only metadata (PartialObjectMetadata). Absent: the whole object. */
  readonly view?: "metadata";
  /** For the type only; never set at run time. */
  readonly type?: T;
};

/** A part of an object with its own URL path. */
export type Subresource = "status" | "scale" | "finalize" | "ephemeralcontainers";

/**
 * A resource whose objects have the type `T`.
 *
 * @example const widgets = defineResource<Widget>({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
 */
export function defineResource<T extends KubeObject>(resource: Omit<Resource<T>, "type">): Resource<T> {
  return resource;
}

/** The same collection, but reads, creates, updates and patches return only metadata: for code that needs nothing else. */
export function metadataOf(resource: Resource): Resource {
  const { type: _type, ...rest } = resource;
  return { ...rest, view: "metadata" };
}

export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** "deployments.apps", as kubectl and RBAC write it. */
export function groupResourceOf(resource: Resource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** The URL path of a collection (all namespaces if none is given), an object, or a subresource of it. */
export function pathOf(
  resource: Resource,
  at: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const inNamespace = resource.namespaced && at.namespace !== undefined ? `/namespaces/${encodeURIComponent(at.namespace)}` : "";
  const object = at.name === undefined ? "" : `/${encodeURIComponent(at.name)}`;
  const below = at.subresource === undefined ? "" : `/${at.subresource}`;
  return `${root}${inNamespace}/${resource.plural}${object}${below}`;
}
