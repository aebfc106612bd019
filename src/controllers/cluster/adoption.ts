/**
 * Adoption: a cluster that owns itself becomes the child of another cell (`lattice reparent`). Its LatticeCluster at the new cell has an annotation, and is never
 * compiled there. The cell offers the cluster a configuration with a token, as a Secret; it is withdrawn when the agent has connected. Pure.
 */
import { millisecondsOf } from "#base";
import type { KubeObject } from "#kube";

/** Its value is the uid of the cluster's namespace kube-system: another cluster of this name is not adopted in its place. */
export const ADOPTED_ANNOTATION = "lattice.dev/adopted";
/** On an offer: when its token expires. */
export const OFFER_EXPIRES_ANNOTATION = "lattice.dev/expires";

/** The configuration of its parent for a cluster that is being adopted, in the operator's namespace. */
export function adoptionSecretOf(cluster: string): string {
  return `lattice-adoption-${cluster}`;
}

/** The cluster, by the uid of its namespace kube-system. */
export function adoptedCluster({ metadata: { annotations } }: KubeObject): string | undefined {
  const uid = annotations?.[ADOPTED_ANNOTATION];
  return uid === "" ? undefined : uid;
}

export type AdoptionState = {
  /** Undefined: there is none, or it is being deleted. */
  readonly cluster: KubeObject | undefined;
  /** Metadata of the offer; undefined: there is none. */
  readonly offer: KubeObject | undefined;
  /** Undefined: no access was given yet. */
  readonly access: { readonly closed: boolean; readonly revoked: boolean; readonly hasConnected: boolean } | undefined;
  readonly now: number;
};

/** Whether a new offer is due, or the offer has to go. */
export function adoptionStep({ cluster, offer, access, now }: AdoptionState): "offer" | "withdraw" | undefined {
  const isWanted = cluster !== undefined && adoptedCluster(cluster) !== undefined && access?.revoked !== true;
  const isDone = access !== undefined && (access.closed || access.hasConnected);
  if (!isWanted || isDone) return offer === undefined ? undefined : "withdraw";
  return offer === undefined || isExpired(offer, now) ? "offer" : undefined;
}

function isExpired({ metadata: { annotations } }: KubeObject, now: number): boolean {
  const expires = millisecondsOf(annotations?.[OFFER_EXPIRES_ANNOTATION] ?? "");
  return !(now < expires);
}
