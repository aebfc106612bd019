/**
 * The next step of a change of the parent, from what both clusters have now. Pure. Nothing is remembered between runs: a command that was killed continues, because
 * it sees what is done already.
 */
import type { NamespaceOwnership } from "#pivot";

export type ReparentChild = {
  /** By ConfigMap lattice-identity; undefined: it has none. */
  readonly name: string | undefined;
  /** Uid of its namespace kube-system. */
  readonly uid: string;
  readonly ownership: NamespaceOwnership["state"];
  /** Its own LatticeCluster exists; `cellRef` of its spec. */
  readonly own: { readonly cellRef: string | undefined } | undefined;
  /** LatticeClusters beside its own. */
  readonly children: readonly string[];
  /** Its configuration of the parent; undefined: it has none. */
  readonly parent: ParentView | undefined;
  /** That of its agent, and the cell that has signed it; undefined: it has none. */
  readonly certificate: { readonly cell: string; readonly serial: string } | undefined;
};

/** `endpoint`: all addresses, as one text. */
export type ParentView = { readonly cell: string; readonly endpoint: string; readonly tokenDigest: string };

export type ReparentTarget = {
  readonly name: string | undefined;
  readonly uid: string;
  /** Its own LatticeCluster; undefined: it has none. */
  readonly own:
    | {
        readonly cellRef: string | undefined;
        readonly endpoint: string | undefined;
        /** "deleted": it is being deleted. "leaving": its Cluster API objects are being moved away. */
        readonly closing?: "deleted" | "leaving" | undefined;
      }
    | undefined;
  /** The LatticeCluster with the child's name. `replaces`: the serial number of the certificate that it was asked to replace. */
  readonly entry: { readonly adopted: string | undefined; readonly connected: boolean; readonly replaces?: string | undefined } | undefined;
  /** Its record about that cluster; undefined: it has none. `closed`: an agent has connected with the last tokens. */
  readonly access: { readonly serials: readonly string[]; readonly closed: boolean; readonly revoked: boolean } | undefined;
  /** What it offers to the child. */
  readonly offer: ParentView | undefined;
};

/** What the former parent still has; "unknown": it was not asked, "unreachable": it does not answer. */
export type ReparentSource = "unknown" | "unreachable" | { readonly name: string | undefined; readonly has: boolean };

export type ReparentView = {
  readonly name: string;
  readonly child: ReparentChild;
  readonly to: ReparentTarget;
  readonly from: ReparentSource;
};

export type ReparentStep =
  /** Creates the LatticeCluster at the new parent. */
  | "adopt"
  /** Asks the parent, whose child it is already, for another offer. */
  | "ask-again"
  /** Waits for the configuration that the new parent offers. */
  | "await-offer"
  /** Writes it into the child. */
  | "write-parent"
  | "set-cell-ref"
  /** Waits until the agent is connected. */
  | "await-agent"
  /** Releases the cluster at its former parent. */
  | "release"
  | "done";

export type ReparentDecision = { readonly step: ReparentStep } | { readonly refused: string };

export function nextReparentStep(view: ReparentView): ReparentDecision {
  const { child, to, from } = view;
  const refused = refusalOf(view);
  if (refused !== undefined) return { refused };
  if (to.entry === undefined) return { step: "adopt" };
  const needsAnother = needsAnotherOffer(child, to);
  if (needsAnother && to.entry.replaces !== child.certificate?.serial) return { step: "ask-again" };
  if (needsAnother) return { step: "await-offer" };
  if (!isConfigured(child, to)) return { step: to.offer === undefined ? "await-offer" : "write-parent" };
  if (child.own?.cellRef !== to.name) return { step: "set-cell-ref" };
  if (!to.entry.connected || to.access?.closed === false) return { step: "await-agent" };
  return { step: typeof from === "object" && from.has ? "release" : "done" };
}

/** Its agent has a certificate of this parent. A cluster that was released has one, too, and is not on record any more. */
function isOnRecord({ certificate }: ReparentChild, { name, access }: ReparentTarget): boolean {
  return certificate !== undefined && certificate.cell === name && access?.serials.includes(certificate.serial) === true;
}

/** The record forgets the former certificate when it gives another one, and the cluster stores that one later. */
function isChild(child: ReparentChild, to: ReparentTarget): boolean {
  const isReplaced = child.certificate?.cell === to.name && child.certificate?.serial === to.entry?.replaces;
  return isReplaced || isOnRecord(child, to);
}

/** The last offer was used, and the agent is not connected, or connects to a former address. */
function needsAnotherOffer(child: ReparentChild, to: ReparentTarget): boolean {
  if (to.access?.closed !== true || !isOnRecord(child, to)) return false;
  return to.entry?.connected !== true || child.parent?.endpoint !== to.own?.endpoint;
}

/** Without an offer the agent has used it already. */
function isConfigured({ parent }: ReparentChild, { name, own, offer }: ReparentTarget): boolean {
  if (offer !== undefined) return parent?.tokenDigest === offer.tokenDigest;
  return parent !== undefined && parent.cell === name && parent.endpoint === own?.endpoint;
}

function refusalOf({ name, child, to, from }: ReparentView): string | undefined {
  return childRefusal(name, child) ?? parentRefusal(name, child, to) ?? formerRefusal(child, to, from);
}

function childRefusal(name: string, { name: found, own, ownership }: ReparentChild): string | undefined {
  if (found === undefined) return "the cluster of --kubeconfig is no Lattice cluster: it has no ConfigMap lattice-system/lattice-identity";
  if (found !== name) return `the cluster of --kubeconfig is ${found}, not ${name}; pass the kubeconfig of ${name}`;
  if (own === undefined) return `${name} has no LatticeCluster of its own; a cluster gets it with the pivot`;
  if (ownership === "moving") return `the Cluster API objects of ${name} are being moved; wait until the pivot has ended`;
  if (ownership !== "owner")
    return `${name} does not own itself: its Cluster API objects are at its parent, which would continue to own them; wait for the pivot`;
  return undefined;
}

function parentRefusal(name: string, child: ReparentChild, to: ReparentTarget): string | undefined {
  const { name: cell, uid, own, entry, access } = to;
  if (uid === child.uid) return `--to leads to ${name} itself; pass the kubeconfig of the new parent`;
  if (cell === undefined) return "the cluster of --to is no Lattice cluster: it has no ConfigMap lattice-system/lattice-identity";
  if (cell === name) return `the cluster of --to has the name ${name} too; a parent needs another name`;
  if (own?.endpoint === undefined)
    return `${cell} is no cell: set spec.endpoints.host of LatticeCluster ${cell} to the address that children connect to`;
  if (child.children.includes(cell) || own.cellRef === name) return `${cell} is a child of ${name}, and cannot be its parent`;
  if (own.cellRef !== undefined && child.children.includes(own.cellRef))
    return `${cell} is below ${name}, as a child of ${own.cellRef}, and cannot be its parent`;
  const isKnown = entry !== undefined && isChild(child, to);
  if (isKnown && access?.revoked === true)
    return `${cell} has revoked the access of ${name}: to admit it again, delete Secret lattice-access-${name} in its namespace lattice-system and LatticeCluster ${name} there, the latter with spec.deletion.unpivot: false`;
  if (own.closing !== undefined && !isKnown) return `${cell} adopts no clusters: ${CLOSING[own.closing]}; use another parent`;
  if (entry !== undefined && entry.adopted !== child.uid && !isKnown)
    return `${cell} has a LatticeCluster ${name} already, which is not of this cluster; delete it there first (with spec.deletion.unpivot: false if it is of this cluster)`;
  return undefined;
}

const CLOSING = {
  deleted: "its own LatticeCluster is being deleted, which waits for its children",
  leaving: "its Cluster API objects are being moved away, as in its deletion",
};

function formerRefusal({ parent }: ReparentChild, { name: cell }: ReparentTarget, from: ReparentSource): string | undefined {
  if (typeof from !== "object") return undefined;
  if (from.name === cell) return "--from and --to lead to the same cluster";
  if (parent !== undefined && parent.cell !== cell && from.name !== parent.cell)
    return `--from leads to ${from.name ?? "a cluster without a name"}, and the parent is ${parent.cell}`;
  return undefined;
}

/** What stays at the former parent, for people; undefined: nothing. */
export function remainderOf(name: string, former: string | undefined, from: ReparentSource): string | undefined {
  if (typeof from === "object" || former === undefined) return undefined;
  const why = from === "unreachable" ? ` (${former} does not answer)` : "";
  return `LatticeCluster ${name} stays at ${former}${why}, without any effect on ${name}: there, set spec.deletion.unpivot to false and delete it, or run this command again with --from`;
}
