/**
 * What a kind is to an API server: group, version, plural, scope, and the paths that follow from them.
 *
 * `T` is carried only in the type: `client.get(configMaps, …)` knows what comes back.
 */
import type { KubeObject } from "./object.ts";

/** A kind as paths name it. `T` is what its objects are. */
export type Resource<T extends KubeObject = KubeObject> = {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** "metadata": the server is asked for the metadata alone (PartialObjectMetadata). Absent: for the whole object. */
  readonly view?: "metadata";
  /** Never present at run time. */
  readonly type?: T;
};

/** Part of an object that has a path of its own. */
export type Subresource = "status" | "scale" | "finalize" | "ephemeralcontainers";

/**
 * A resource whose objects have the type `T`.
 *
 * @example const widgets = defineResource<Widget>({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
 */
export function defineResource<T extends KubeObject>(resource: Omit<Resource<T>, "type">): Resource<T> {
  return resource;
}

/** The same collection, but reads return only metadata: for code that follows every kind and reads the content of none. */
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

/** The path of a collection (all namespaces when none is given), an object, or a subresource of it. */
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
