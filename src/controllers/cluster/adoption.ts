/**
 * Adoption: a cluster that owns itself becomes the child of another cell (`lattice reparent`). Its LatticeCluster at the new cell has an annotation, and is never
 * compiled there. The cell offers the cluster a configuration with a token, as a Secret; it is withdrawn when the agent has connected. Pure.
 *
 * A child whose certificate cannot be renewed any more, or which has a former address of its cell, gets an offer of its own cell in the same way.
 */
import { millisecondsOf } from "#base";
import { isBeingDeleted, type KubeObject } from "#kube";

/** Its value is the uid of the cluster's namespace kube-system: another cluster of this name is not adopted in its place. */
export const ADOPTED_ANNOTATION = "lattice.dev/adopted";
/** On the LatticeCluster of a child: the serial number of its certificate, in whose place it needs another one. */
export const NEW_CERTIFICATE_ANNOTATION = "lattice.dev/new-certificate";
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

/** The serial number of the certificate that a child has asked to replace. */
export function certificateToReplace({ metadata: { annotations } }: KubeObject): string | undefined {
  const serial = annotations?.[NEW_CERTIFICATE_ANNOTATION];
  return serial === "" ? undefined : serial;
}

/** For a person: how a cluster that owns itself gets another certificate of its parent. */
export function newCertificateHelp(cluster: string, cell: string): string {
  return `for a new one, run: lattice reparent ${cluster} --kubeconfig <kubeconfig of ${cluster}> --to <kubeconfig of ${cell}>`;
}

export type AdoptionAccess = {
  readonly closed: boolean;
  readonly revoked: boolean;
  /** Oldest first. */
  readonly certificates: readonly { readonly serial: string; readonly connected: boolean }[];
};

export type AdoptionState = {
  /** Undefined: there is none. */
  readonly cluster: KubeObject | undefined;
  /** Metadata of the offer; undefined: there is none. */
  readonly offer: KubeObject | undefined;
  /** Undefined: no access was given yet. */
  readonly access: AdoptionAccess | undefined;
  /** The cell adopts no clusters, because it is being deleted. */
  readonly isClosing: boolean;
  readonly now: number;
};

/** Whether a new offer is due, or the offer has to go. */
export function adoptionStep({ cluster, offer, access, isClosing, now }: AdoptionState): "offer" | "withdraw" | undefined {
  const isDue = offer === undefined || isExpired(offer, now);
  // the tokens of an offer that was used are closed
  if (cluster !== undefined && isReplacing(cluster, access)) return isDue || access?.closed === true ? "offer" : undefined;
  const isAdopted = cluster !== undefined && !isBeingDeleted(cluster) && adoptedCluster(cluster) !== undefined;
  const isDone = access !== undefined && (access.closed || access.revoked || access.certificates.some(({ connected }) => connected));
  if (!isAdopted || isClosing || isDone) return offer === undefined ? undefined : "withdraw";
  return isDue ? "offer" : undefined;
}

/** Until the agent has got another certificate: the record forgets the former one then. One that was renewed meanwhile needs no offer. */
function isReplacing(cluster: KubeObject, access: AdoptionAccess | undefined): boolean {
  const serial = certificateToReplace(cluster);
  if (serial === undefined || access === undefined || access.revoked) return false;
  const at = access.certificates.findIndex((one) => one.serial === serial);
  return at >= 0 && !access.certificates.slice(at + 1).some(({ connected }) => connected);
}

function isExpired({ metadata: { annotations } }: KubeObject, now: number): boolean {
  const expires = millisecondsOf(annotations?.[OFFER_EXPIRES_ANNOTATION] ?? "");
  return !(now < expires);
}
