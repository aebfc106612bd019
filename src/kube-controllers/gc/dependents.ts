/** Dependents whose references contradict each other about one uid. */
import { identityKey, identityOfOwner, refersTo, type Identity } from "./identity.ts";
import type { GraphNode } from "./owner-graph.ts";

type Dependent = Pick<GraphNode, "identity" | "owners">;

/** Dependents that reference this identity, and those that reference another one with its uid. One with two references can be both. */
export function partition<T extends Dependent>(owner: { readonly dependents: ReadonlySet<T> }, identity: Identity) {
  const matching: T[] = [];
  const contradicting: T[] = [];
  for (const dependent of owner.dependents) {
    const elsewhere = identity.namespace !== "" && identity.namespace !== dependent.identity.namespace;
    const references = dependent.owners.filter(({ uid }) => uid === identity.uid);
    if (!elsewhere && references.some((reference) => refersTo(reference, identity))) matching.push(dependent);
    if (elsewhere || references.some((reference) => !refersTo(reference, identity))) contradicting.push(dependent);
  }
  return { matching, contradicting };
}

/** The next of the other coordinates of the uid, after those known to be absent, so that all are checked. */
export function alternateIdentity(dependents: readonly Dependent[], absent: Identity): Identity | undefined {
  const others = new Map<string, Identity>();
  for (const { identity, owners } of dependents) {
    for (const reference of owners.filter(({ uid }) => uid === absent.uid)) {
      // the kind is known to be cluster-scoped if the absent identity had no namespace
      const clusterKind = absent.namespace === "" && reference.kind === absent.kind && reference.apiVersion === absent.apiVersion;
      const other = identityOfOwner(reference, clusterKind ? "" : identity.namespace);
      others.set(identityKey(other), other);
    }
  }
  others.delete(identityKey(absent));
  const keys = [...others.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  const next = keys.find((key) => key > identityKey(absent)) ?? keys[0];
  return next === undefined ? undefined : others.get(next);
}
