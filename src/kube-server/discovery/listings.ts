/** The two forms of discovery: the legacy form has a document per group and version, the aggregated form a single document. */
import type { ServedGroup, ServedResourceType, ServedVersion } from "./groups.ts";

export function apiGroup({ name, versions }: ServedGroup): Readonly<Record<string, unknown>> {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

export function apiResourceList(group: string, { version, resources }: ServedVersion): unknown {
  const groupVersion = group === "" ? version : `${group}/${version}`;
  const list = { groupVersion, resources: resources.flatMap(apiResources) };
  // the list of the core group has no apiVersion on a real server
  return group === "" ? { kind: "APIResourceList", ...list } : { kind: "APIResourceList", apiVersion: "v1", ...list };
}

function apiResources({ type, subresources, storageHash }: ServedResourceType): readonly unknown[] {
  const { resource } = type;
  const own = {
    name: resource.plural,
    singularName: type.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: type.listedVerbs ?? type.verbs,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(storageHash === "" ? {} : { storageVersionHash: storageHash }),
  };
  const below = subresources.map(({ name, kind, verbs }) => ({
    name: `${resource.plural}/${name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(kind.group === "" || kind.group === resource.group ? {} : { group: kind.group, version: kind.version }),
    kind: kind.kind,
    verbs,
  }));
  return [own, ...below];
}

export const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export function groupDiscoveryList(groups: readonly ServedGroup[]): unknown {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map(({ version, resources }) => ({ version, resources: resources.map(resourceDiscovery), freshness: "Current" })),
    })),
  };
}

function resourceDiscovery({ type, subresources }: ServedResourceType): unknown {
  const { resource, custom } = type;
  const kindOf = (kind: string, group = "", version = "") => ({ group, version, kind });
  const own = custom ? kindOf(resource.kind, resource.group, resource.version) : kindOf(resource.kind);
  return {
    resource: resource.plural,
    responseKind: own,
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: type.singular,
    verbs: type.listedVerbs ?? type.verbs,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(subresources.length === 0
      ? {}
      : { subresources: subresources.map(({ name, kind, verbs }) => ({ subresource: name, responseKind: kind, verbs })) }),
  };
}
