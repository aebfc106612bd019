/** The objects of a service that exist in the cluster. */
import { APPLIED_ANNOTATION, OWNER_INDEX, ownerLabelOf, stamp, type CacheReader } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { keyText, type KubeObject, type Resource } from "#kube";
import { CONTROLLER_NAME, ownedKinds } from "../owned-kinds.ts";

export type OwnedObject = { readonly resource: Resource; readonly object: KubeObject };

export function ownedObjects(service: LatticeService, cache: CacheReader, kinds: readonly Resource[] = ownedKinds): readonly OwnedObject[] {
  const label = ownerLabelOf({ controller: CONTROLLER_NAME, object: service });
  return kinds
    .filter((resource) => cache.isServed(resource))
    .flatMap((resource) => cache.byIndex(resource, OWNER_INDEX, label).map((object) => ({ resource, object })));
}

/** The digest annotation of an object as last applied; undefined: the object does not exist. */
export function appliedVersion(object: KubeObject, cache: CacheReader): string | undefined {
  const resource = ownedKinds.find(({ kind }) => kind === object.kind);
  const live = resource === undefined || !cache.isServed(resource) ? undefined : cache.get(resource, object.metadata);
  return live === undefined ? undefined : (live.metadata.annotations?.[APPLIED_ANNOTATION] ?? "");
}

/** The digest annotation that applying it now would write. */
export function versionToApply(object: KubeObject, service: LatticeService): string | undefined {
  return stamp(object, { controller: CONTROLLER_NAME, object: service }).metadata.annotations?.[APPLIED_ANNOTATION];
}

export function isApplied(object: KubeObject, service: LatticeService, cache: CacheReader): boolean {
  return appliedVersion(object, cache) === versionToApply(object, service);
}

/** Deployments first: they run the pods. */
const FIRST = ["Deployment", "Service"];
const MAX_NAMED = 4;

/** The first of them by name; the others are counted. */
export function describeLeft(left: readonly OwnedObject[]): string {
  const rank = ({ resource: { kind } }: OwnedObject) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  const names = left
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_NAMED)
    .map(({ resource: { kind }, object }) => `${kind} ${keyText(object.metadata)}`);
  return `${names.join(", ")}${left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : ""}`;
}
