/**
 * An object, and its fields that are written only on creation and belong to another controller afterwards: an autoscaler sets replicas, Flagger
 * rewrites a Service. Applying them again would revert that controller; removing them by the manager that owns them would reset them to a default.
 */
import type { JsonObject, KubeObject } from "#kube";

export type CompiledObject = {
  readonly object: KubeObject;
  /** Merged into the object on creation: `{spec: {replicas: 2}}`. */
  readonly once?: JsonObject;
};

/** The object in the form for creation. */
export function atFirst({ object, once }: CompiledObject): KubeObject {
  if (once === undefined) return object;
  const { spec } = object as { readonly spec?: JsonObject };
  return { ...object, spec: { ...(once["spec"] as JsonObject | undefined), ...spec } } as KubeObject;
}
