/**
 * What a service left behind that was in ownership mode and now has a `workloadRef`. Until patch mode is built it goes on as it was: nothing is
 * deleted, and the status says what there is and how to get on.
 */
import { OWNER_INDEX, ownerLabelOf, type CacheReader } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { keyText, type KubeObject, type Resource } from "#kube";
import { CONTROLLER_NAME, ownedKinds } from "./owned-kinds.ts";

export type LeftObject = { readonly resource: Resource; readonly object: KubeObject };

export function leftObjects(service: LatticeService, cache: CacheReader): readonly LeftObject[] {
  const label = ownerLabelOf({ controller: CONTROLLER_NAME, object: service });
  return ownedKinds
    .filter((resource) => cache.isServed(resource))
    .flatMap((resource) => cache.byIndex(resource, OWNER_INDEX, label).map((object) => ({ resource, object })));
}

/** Deployments first: they are what runs. */
const FIRST = ["Deployment", "Service"];
const MOST_NAMED = 4;

export function describeLeft(left: readonly LeftObject[]): string {
  if (left.length === 0) return "";
  const rank = ({ resource: { kind } }: LeftObject) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  const names = left
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MOST_NAMED)
    .map(({ resource: { kind }, object }) => `${kind} ${keyText(object.metadata)}`);
  const more = left.length > MOST_NAMED ? ` and ${left.length - MOST_NAMED} more` : "";
  const fix = "take spec.workloadRef out to go on with them, or delete the LatticeService to delete them (volume claims stay)";
  return `; what was made for this service before goes on as it was, and is not deleted: ${names.join(", ")}${more}; ${fix}`;
}
