/** Conversion of the objects of a request to the version that a rule names, and back. */
import type { KubeObject } from "#kube";
import type { ResourceType } from "../../resource-type.ts";

/** Objects that are not of the resource's own kind (a Scale) have one version only and are not converted. */
export function inVersionOf(object: KubeObject, from: ResourceType, to: ResourceType): KubeObject {
  if (from === to || object.kind !== from.resource.kind) return object;
  return to.fromStorage(from.toStorage(object));
}
