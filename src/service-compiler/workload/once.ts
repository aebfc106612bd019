/**
 * An object, and the fields of it that are written once and then belong to somebody else: an autoscaler counts replicas, Flagger rewrites a
 * Service. Applied again and again they would be a tug of war; left out they would be reset to a default.
 */
import type { JsonObject, KubeObject } from "#kube";

export type Compiled = {
  readonly object: KubeObject;
  /** To be merged into the object when it is made: `{spec: {replicas: 2}}`. */
  readonly once?: JsonObject;
};

/** As it is when it is made: what somebody applies by hand. */
export function atFirst({ object, once }: Compiled): KubeObject {
  if (once === undefined) return object;
  const { spec } = object as { readonly spec?: JsonObject };
  return { ...object, spec: { ...(once["spec"] as JsonObject | undefined), ...spec } } as KubeObject;
}
