/**
 * Which ReplicaSet gets which size, as a list of steps. Pure: the controller performs them in order.
 *
 * A set may appear twice: first without its Pods that never became ready, then scaled down further: two steps, two events, as in Kubernetes.
 */
import type { Deployment, ReplicaSet } from "#kube";
import { MAX_INT32 } from "../pods/int-or-percent.ts";
import { timeOf } from "../pods/pod-state.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { activeSets, isRolling, maxSurge, maxUnavailable, newSetSize, totalAvailable, totalReplicas } from "./limits.ts";
import { annotationOf, DESIRED_REPLICAS, MAX_REPLICAS, wholeNumber } from "./revisions.ts";
import { allSets, type Rollout } from "./rollout-status.ts";

export type ScaleStep = { readonly set: ReplicaSet; readonly size: number };

/** Scales the new set up, as far as the surge allows; or down to a smaller Deployment. */
export function planNewSet(rollout: Rollout): readonly ScaleStep[] {
  const { deployment, newSet } = rollout;
  if (newSet === undefined) return [];
  const [size, desired] = [replicasOf(newSet), replicasOf(deployment)];
  const next = size > desired ? desired : newSetSize(deployment, allSets(rollout), size);
  return next === size ? [] : [{ set: newSet, size: next }];
}

/** Scales the old sets down, as far as availability allows: first their unavailable Pods, then the others, oldest set first. */
export function planOldSets(rollout: Rollout): readonly ScaleStep[] {
  const { deployment, newSet } = rollout;
  const old = activeSets(rollout.oldSets).toSorted(byCreation);
  if (newSet === undefined || old.length === 0) return [];
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  const removable = totalReplicas(allSets(rollout)) - minAvailable - newUnavailable;
  if (removable <= 0) return [];
  const unhealthy = shrink(old, removable, (set) => replicasOf(set) - (set.status?.availableReplicas ?? 0));
  const shrunk = old.map((set) => resized(set, unhealthy.find((step) => step.set === set)?.size));
  const surplus = totalAvailable([...old, newSet]) - minAvailable;
  return [...unhealthy, ...(surplus > 0 ? shrink(shrunk, surplus, replicasOf) : [])];
}

function shrink(sets: readonly ReplicaSet[], budget: number, removableOf: (set: ReplicaSet) => number): readonly ScaleStep[] {
  let left = budget;
  return sets.flatMap((set) => {
    const count = Math.min(left, replicasOf(set) === 0 ? 0 : removableOf(set));
    if (count <= 0) return [];
    left -= count;
    return [{ set, size: replicasOf(set) - count }];
  });
}

function resized(set: ReplicaSet, size: number | undefined): ReplicaSet {
  return size === undefined ? set : { ...set, spec: { ...set.spec, replicas: size } };
}

/** Whether the Deployment's size was changed since its ReplicaSets were last scaled. */
export function isScalingEvent(rollout: Rollout): boolean {
  return activeSets(allSets(rollout)).some((set) => {
    const desired = wholeNumber(annotationOf(set, DESIRED_REPLICAS));
    return desired !== undefined && desired !== replicasOf(rollout.deployment);
  });
}

/** A new size for the Deployment. During a rollout the change is distributed proportionally over the sets. */
export function planScaling(rollout: Rollout): readonly ScaleStep[] {
  const { deployment, newSet, oldSets } = rollout;
  const only = activeOrLatest(rollout);
  if (only !== undefined) return replicasOf(only) === replicasOf(deployment) ? [] : [{ set: only, size: replicasOf(deployment) }];
  if (newSet !== undefined && isSaturated(deployment, newSet)) return activeSets(oldSets).map((set) => ({ set, size: 0 }));
  return isRolling(deployment) ? planProportions(rollout) : [];
}

/** The only set with Pods; if none has Pods, the newest. Undefined when several have. */
function activeOrLatest({ newSet, oldSets }: Rollout): ReplicaSet | undefined {
  const newestFirst = oldSets.toSorted((a, b) => byCreation(b, a));
  const active = activeSets(newSet === undefined ? newestFirst : [...newestFirst, newSet]);
  if (active.length > 1) return undefined;
  return active[0] ?? newSet ?? newestFirst[0];
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const desired = replicasOf(deployment);
  return (
    replicasOf(set) === desired &&
    wholeNumber(annotationOf(set, DESIRED_REPLICAS)) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  );
}

function planProportions(rollout: Rollout): readonly ScaleStep[] {
  const { deployment } = rollout;
  const desired = replicasOf(deployment);
  const active = activeSets(allSets(rollout));
  const allowed = desired > 0 ? Math.min(desired + maxSurge(deployment), MAX_INT32) : 0;
  const toAdd = allowed - totalReplicas(active);
  const sets = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byCreation(b, a) : byCreation(a, b)));
  let added = 0;
  const steps = sets.map((set) => {
    const share = toAdd === 0 ? 0 : proportion(deployment, set, { toAdd, added });
    added += share;
    return { set, size: replicasOf(set) + share };
  });
  // the rounding remainder is added to the largest set
  return steps.map(({ set, size }, index) => ({ set, size: index === 0 && toAdd !== 0 ? Math.max(0, size + toAdd - added) : size }));
}

function proportion(deployment: Deployment, set: ReplicaSet, { toAdd, added }: { readonly toAdd: number; readonly added: number }): number {
  if (replicasOf(set) === 0 || toAdd === added) return 0;
  const allowed = toAdd - added;
  const share = fraction(deployment, set);
  return toAdd > 0 ? Math.min(share, allowed) : Math.max(share, allowed);
}

function fraction(deployment: Deployment, set: ReplicaSet): number {
  const size = replicasOf(set);
  if (replicasOf(deployment) === 0) return -size;
  const before = wholeNumber(annotationOf(set, MAX_REPLICAS)) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((size * (replicasOf(deployment) + maxSurge(deployment))) / before) - size;
}

export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const order = timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp);
  return order || (a.metadata.name < b.metadata.name ? -1 : 1);
}
