/**
 * The order in which kinds are applied, as data. A wave starts when everything in the one before is
 * applied, not when it is ready: the next pass checks readiness.
 */
import { objectOf, type WantedObject } from "./once.ts";

/** A flat list is sorted by the table; a list of lists is used unchanged (a namespace's default deny before its workloads, for example). */
export type PlannedObjects = readonly WantedObject[] | readonly (readonly WantedObject[])[];

/** Kinds, wave by wave. Kinds that are not listed come last, together. */
export type ApplyOrder = readonly (readonly string[])[];

const DEFAULT_ORDER: ApplyOrder = [
  ["Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass"],
  ["ConfigMap"],
  ["Secret", "ExternalSecret"],
  ["PersistentVolumeClaim"],
  ["ServiceAccount", "Role", "ClusterRole"],
  ["RoleBinding", "ClusterRoleBinding"],
  ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"],
  ["Service"],
  ["HorizontalPodAutoscaler"],
  ["PodDisruptionBudget"],
  ["Canary"],
  ["HTTPRoute"],
  ["Gateway"],
  ["PeerAuthentication"],
  ["AuthorizationPolicy"],
  ["CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"],
  ["ServiceEntry"],
];

export function wavesOf(planned: PlannedObjects, order: ApplyOrder = DEFAULT_ORDER): readonly (readonly WantedObject[])[] {
  if (isWaves(planned)) return planned.filter((wave) => wave.length > 0);
  const rank = new Map(order.flatMap((kinds, index) => kinds.map((kind) => [kind, index] as const)));
  const waves: WantedObject[][] = Array.from({ length: order.length + 1 }, () => []);
  for (const wanted of planned) waves[rank.get(objectOf(wanted).kind) ?? order.length]?.push(wanted);
  return waves.filter((wave) => wave.length > 0);
}

function isWaves(planned: PlannedObjects): planned is readonly (readonly WantedObject[])[] {
  return planned.length > 0 && planned.every((item) => Array.isArray(item));
}
