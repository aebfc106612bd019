/**
 * An object, and the fields of it that are written once and belong to another controller afterwards: an autoscaler sets replicas, Flagger
 * rewrites a Service. Applied again they would undo what that controller did; left out by the client that wrote them they would be reset to a default.
 */
import type { JsonObject, KubeObject } from "#kube";

export type CompiledObject = {
  readonly object: KubeObject;
  /** To be merged into the object when it is made: `{spec: {replicas: 2}}`. */
  readonly once?: JsonObject;
};

/** As it is when it is made. */
export function atFirst({ object, once }: CompiledObject): KubeObject {
  if (once === undefined) return object;
  const { spec } = object as { readonly spec?: JsonObject };
  return { ...object, spec: { ...(once["spec"] as JsonObject | undefined), ...spec } } as KubeObject;
}
