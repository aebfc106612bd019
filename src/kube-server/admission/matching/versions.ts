/** The objects of a request in the version in which somebody wants to see them, and back. */
import type { KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";

/** Objects that are not of the resource's own kind (a Scale) have one version only, and stay as they are. */
export function inVersionOf(object: KubeObject, from: ResourceType, to: ResourceType): KubeObject {
  if (from === to || object.kind !== from.resource.kind) return object;
  return to.fromStorage(from.toStorage(object));
}
