/** Converts an object to its Scale, and writes a Scale back to the object. */
import { apiVersionOf, field, fieldAt, isJsonObject, scales, type JsonObject, type KubeObject } from "#kube";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import { withMetadata } from "../../protocol/object-meta.ts";
import type { ScaleFieldPaths } from "./scale-paths.ts";

export const API_VERSION = apiVersionOf(scales);

export function scaleOf(parent: KubeObject, paths: ScaleFieldPaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const replicas = numberAt(parent, paths.replicas);
  const selector = paths.selector(parent);
  const bare = { kind: "Scale", apiVersion: API_VERSION, metadata: { name } };
  return asObject({
    ...withMetadata(bare, { namespace, uid, resourceVersion, creationTimestamp }),
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(parent, paths.statusReplicas), ...(selector === "" ? {} : { selector }) },
  } as unknown as JsonObject);
}

export function numberAt(object: KubeObject, path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === "number" ? value : 0;
}

export function setAt(object: KubeObject, path: readonly string[], value: number): KubeObject {
  const set = (at: JsonObject, [name = "", ...rest]: readonly string[]): JsonObject => {
    const inner = field(at, name);
    return { ...at, [name]: rest.length === 0 ? value : set(isJsonObject(inner) ? inner : {}, rest) };
  };
  return asObject(set(asJsonObject(object), path));
}
