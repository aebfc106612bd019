/** The key of an object in the etcd of a real server, which is part of an error message. */
import type { ResourceType } from "../resource-type.ts";

const PLACES: ReadonlyMap<string, string> = new Map([
  ["/services", "services/specs"],
  ["/endpoints", "services/endpoints"],
  ["/nodes", "minions"],
  ["/replicationcontrollers", "controllers"],
  ["networking.k8s.io/ingresses", "ingress"],
  ["apiextensions.k8s.io/customresourcedefinitions", "apiextensions.k8s.io/customresourcedefinitions"],
  ["apiregistration.k8s.io/apiservices", "apiregistration.k8s.io/apiservices"],
]);

export function storagePath(type: ResourceType, namespace: string | undefined, name: string): string {
  const { group, plural } = type.resource;
  const place = PLACES.get(type.collection) ?? (type.custom ? `${group}/${plural}` : plural);
  return `/registry/${place}/${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
