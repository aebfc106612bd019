/**
 * Kinds that a cluster lacks. Without those of Cilium and Istio no default deny can be applied: services wait for them, unless the operator runs
 * with `--allow-unprotected`. Of other missing kinds only the objects are missing. Pure but for the cache.
 */
import type { CacheReader } from "#controller-runtime";
import {
  authorizationPolicies,
  ciliumNetworkPolicies,
  groupResourceOf,
  meshKindOf,
  peerAuthentications,
  type KubeObject,
  type Resource,
} from "#kube";

export type MissingKinds = {
  /** Without them nothing enforces which services may communicate. */
  readonly protecting: readonly Resource[];
  readonly others: readonly Resource[];
  /** The operator runs with `--allow-unprotected`. */
  readonly allowed: boolean;
};

const PRODUCTS: ReadonlyMap<Resource, string> = new Map([
  [ciliumNetworkPolicies, "Cilium"],
  [authorizationPolicies, "Istio"],
  [peerAuthentications, "Istio"],
]);

export const NONE_MISSING: MissingKinds = { protecting: [], others: [], allowed: false };

/** The kinds of these objects that the cluster does not serve. */
export function missingKinds(objects: readonly KubeObject[], cache: CacheReader, allowed: boolean): MissingKinds {
  const needed = [...new Set(objects.flatMap((object) => meshKindOf(object) ?? []))];
  const missing = needed.filter((resource) => !cache.isServed(resource));
  const protects = (resource: Resource) => PRODUCTS.has(resource);
  return { protecting: missing.filter(protects), others: missing.filter((resource) => !protects(resource)), allowed };
}

/** No pod may be started, and no running workload may be changed. */
export function isHeld({ protecting, allowed }: MissingKinds): boolean {
  return protecting.length > 0 && !allowed;
}

/** The kinds that are waited for; undefined: none. */
export function missingProblem(missing: MissingKinds): string | undefined {
  if (isHeld(missing)) return describeHeld(missing.protecting);
  return missing.others.length === 0 ? undefined : describeMissing(missing.others);
}

/** What is not enforced although services run; undefined: nothing. */
export function unprotectedProblem({ protecting, allowed }: MissingKinds): string | undefined {
  if (protecting.length === 0 || !allowed) return undefined;
  const lack = `the cluster does not have ${namesOf(protecting)}`;
  return `who may talk to whom is not enforced by ${productsOf(protecting)}: ${lack}, and the operator runs with --allow-unprotected`;
}

export function describeMissing(missing: readonly Resource[]): string {
  return `the cluster does not have ${namesOf(missing)}; everything else is applied, and these follow when they are installed`;
}

function describeHeld(protecting: readonly Resource[]): string {
  const lack = `the cluster does not have ${namesOf(protecting)}, so nothing would enforce who may talk to whom`;
  const wait = `no pod is started and what runs stays as it is until ${productsOf(protecting)} is installed`;
  return `${lack}; ${wait}; to run without protection, start the operator with --allow-unprotected`;
}

function namesOf(resources: readonly Resource[]): string {
  return [...new Set(resources.map(groupResourceOf))].toSorted().join(", ");
}

function productsOf(resources: readonly Resource[]): string {
  return [...new Set(resources.flatMap((resource) => PRODUCTS.get(resource) ?? []))].toSorted().join(" and ");
}
