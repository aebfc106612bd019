/**
 * Whether claims are deleted with their set or Pod: `persistentVolumeClaimRetentionPolicy`, implemented by owner references for the garbage
 * collector. A claim with another controller is not changed.
 */
import {
  apiVersionOf,
  pods,
  statefulSets,
  type KubeObject,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  type Resource,
  type StatefulSet,
} from "#kube";
import { controllerReference } from "../pods/owners.ts";
import { isInRange, ordinalOf } from "./identity.ts";

type Wanted = "set" | "pod" | "none";

function wantedOwner(set: StatefulSet, pod: Pod): Wanted {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const condemned = !isInRange(set, ordinalOf(pod));
  if (whenScaled === "Delete" && condemned) return "pod";
  return whenDeleted === "Delete" ? "set" : "none";
}

/** A policy that retains everything changes no claim that has other owners. */
function keepsAll({ spec }: StatefulSet): boolean {
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return whenDeleted !== "Delete" && whenScaled !== "Delete";
}

export function hasForeignController(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  if (keepsAll(set)) return false;
  return references(claim).some((reference) => {
    if (names(reference, set, statefulSets)) return reference.uid !== set.metadata.uid;
    if (names(reference, pod, pods)) return reference.uid !== pod.metadata.uid;
    return reference.controller === true;
  });
}

/** An owner of the same name that is deleted: the garbage collector will delete the claim, so it is not adopted. */
export function hasStaleOwner(claim: PersistentVolumeClaim, owner: KubeObject, resource: Resource): boolean {
  return references(claim).some((reference) => names(reference, owner, resource) && reference.uid !== owner.metadata.uid);
}

export function ownersAreRight(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  if (hasStaleOwner(claim, set, statefulSets) || hasStaleOwner(claim, pod, pods)) return true;
  const [bySet, byPod] = [ownedBy(claim, set), ownedBy(claim, pod)];
  if (hasForeignController(claim, set, pod)) return !bySet && !byPod;
  const plain = references(claim).some(({ uid, controller }) => isEither(uid, set, pod) && controller !== true);
  const wanted = wantedOwner(set, pod);
  return !plain && bySet === (wanted === "set") && byPod === (wanted === "pod");
}

export function withRightOwners(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): PersistentVolumeClaim {
  const foreign = hasForeignController(claim, set, pod);
  const others = references(claim).filter((reference) => !names(reference, set, statefulSets) && !names(reference, pod, pods));
  const wanted = foreign ? "none" : wantedOwner(set, pod);
  const own = wanted === "set" ? [controllerReference(set, statefulSets)] : wanted === "pod" ? [controllerReference(pod, pods)] : [];
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: [...others, ...own] } };
}

function references({ metadata }: PersistentVolumeClaim): readonly OwnerReference[] {
  return metadata.ownerReferences ?? [];
}

function names(reference: OwnerReference, { metadata }: KubeObject, resource: Resource): boolean {
  return reference.apiVersion === apiVersionOf(resource) && reference.kind === resource.kind && reference.name === metadata.name;
}

function ownedBy(claim: PersistentVolumeClaim, { metadata }: KubeObject): boolean {
  return metadata.uid !== undefined && references(claim).some(({ uid }) => uid === metadata.uid);
}

function isEither(uid: string, a: KubeObject, b: KubeObject): boolean {
  return uid === a.metadata.uid || uid === b.metadata.uid;
}
