/** Changes of an object that can reduce its usage. All other changes are accounted for by the API server at admission. */
import { claimUsageMoved, fieldAt, isTerminating, jsonEqual, quotaTypeOf, usesResources, type Json, type KubeObject } from "#kube";

export function podFreesQuota(before: KubeObject, after: KubeObject, now: number): boolean {
  if (isTerminating(before) !== isTerminating(after)) return true;
  if (usesResources(before, now) && !usesResources(after, now)) return true;
  return ["containerStatuses", "initContainerStatuses"].some((list) => !jsonEqual(resourcesIn(before, list), resourcesIn(after, list)));
}

/** The resources of each container in the kubelet's status: a resize is complete when this changes. */
function resourcesIn(pod: KubeObject, list: string): readonly (readonly [Json | undefined, Json | undefined])[] {
  const statuses = fieldAt(pod, "status", list);
  if (!Array.isArray(statuses)) return [];
  return (statuses as readonly Json[]).map((status) => [fieldAt(status, "name"), fieldAt(status, "resources")]);
}

export function serviceFreesQuota(before: KubeObject, after: KubeObject): boolean {
  return quotaTypeOf(before) !== quotaTypeOf(after);
}

export function claimFreesQuota(before: KubeObject, after: KubeObject): boolean {
  return claimUsageMoved(after, before);
}
