/**
 * The identity of an object in the owner graph: its uid, and the coordinates by which dependents refer to it.
 *
 * References to one uid may contradict each other (a wrong kind, another namespace). Only objects in an
 * informer are known to be right, so absence is recorded for uid and coordinates together, never for a uid alone.
 */
import { apiVersionOf, type KubeObject, type OwnerReference } from "#kube";
import type { ServedResource } from "../discovery.ts";

export type Identity = {
  readonly apiVersion: string;
  readonly kind: string;
  /** "" for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

export function identityOf(resource: ServedResource, { metadata }: KubeObject): Identity {
  const { namespace = "", name, uid = "" } = metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid };
}

/** The owner of a dependent in this namespace. */
export function identityOfOwner({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Identity {
  return { apiVersion, kind, namespace, name, uid };
}

export function identityKey({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return [kind, apiVersion, namespace, name, uid].join("\0");
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  return refersTo(a, b) && a.namespace === b.namespace;
}

/** All coordinates but the namespace. */
export function refersTo(reference: Omit<Identity, "namespace">, identity: Identity): boolean {
  const { uid, name, kind, apiVersion } = identity;
  return reference.uid === uid && reference.name === name && reference.kind === kind && reference.apiVersion === apiVersion;
}

/** The format of kube-controller-manager's events. */
export function describeIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}
