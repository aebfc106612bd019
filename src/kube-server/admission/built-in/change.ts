/** Small changes that admission plugins make to objects. */
import type { JsonObject, KubeObject } from "#kube";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import type { Attributes } from "../../protocol/admission-port.ts";

export function withSpec(object: KubeObject, changes: JsonObject): KubeObject {
  const json = asJsonObject(object);
  return asObject({ ...json, spec: { ...(json["spec"] as JsonObject | undefined), ...changes } });
}

/** The object of a write to the resource itself, not to one of its subresources. */
export function written({ object, subresource }: Attributes): KubeObject | undefined {
  return subresource === undefined ? object : undefined;
}
