/**
 * The identity of an object in the owner graph: its uid, and the coordinates by which dependents refer to it.
 *
 * One uid may be referred to by coordinates that contradict each other (a wrong kind, another namespace). Only what was seen by an
 * informer is known to be right, so absence is noted for uid and coordinates together, never for a uid alone.
 */
import { apiVersionOf, type KubeObject, type OwnerReference } from "#kube";
import type { ServedResource } from "../discovery.ts";

export type Identity = {
  readonly apiVersion: string;
  readonly kind: string;
  /** "" for kinds of the cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

export function identityOf(resource: ServedResource, { metadata }: KubeObject): Identity {
  const { namespace = "", name, uid = "" } = metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid };
}

/** The owner as a dependent in this namespace means it. */
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

/** As kube-controller-manager writes it in events. */
export function describeIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
}
