/**
 * The next step of a change of the parent, from what both clusters have now. Pure. Nothing is remembered between runs: a command that was killed continues, because
 * it sees what is done already.
 */
import type { NamespaceOwnership } from "#pivot";

export type ChildView = {
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
};

export type ParentView = { readonly cell: string; readonly endpoint: string; readonly tokenDigest: string };

export type NewParentView = {
  readonly name: string | undefined;
  readonly uid: string;
  /** Its own LatticeCluster; undefined: it has none. */
  readonly own: { readonly cellRef: string | undefined; readonly endpoint: string | undefined } | undefined;
  /** The LatticeCluster with the child's name. */
  readonly entry: { readonly adopted: string | undefined; readonly connected: boolean } | undefined;
  /** What it offers to the child. */
  readonly offer: ParentView | undefined;
};

/** What the former parent still has; "unknown": it was not asked, "unreachable": it does not answer. */
export type FormerParentView = "unknown" | "unreachable" | { readonly name: string | undefined; readonly has: boolean };

export type ReparentView = {
  readonly name: string;
  readonly child: ChildView;
  readonly to: NewParentView;
  readonly from: FormerParentView;
};

export type ReparentStep =
  /** Creates the LatticeCluster at the new parent. */
  | "adopt"
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
  if (!isConfigured(child, to)) return { step: to.offer === undefined ? "await-offer" : "write-parent" };
  if (child.own?.cellRef !== to.name) return { step: "set-cell-ref" };
  if (!to.entry.connected) return { step: "await-agent" };
  return { step: typeof from === "object" && from.has ? "release" : "done" };
}

/** Without an offer the agent has used it already. */
function isConfigured({ parent }: ChildView, { name, own, offer }: NewParentView): boolean {
  if (offer !== undefined) return parent?.tokenDigest === offer.tokenDigest;
  return parent !== undefined && parent.cell === name && parent.endpoint === own?.endpoint;
}

function refusalOf({ name, child, to, from }: ReparentView): string | undefined {
  return childRefusal(name, child) ?? parentRefusal(name, child, to) ?? formerRefusal(child, to, from);
}

function childRefusal(name: string, { name: found, own, ownership }: ChildView): string | undefined {
  if (found === undefined) return "the cluster of --kubeconfig is no Lattice cluster: it has no ConfigMap lattice-system/lattice-identity";
  if (found !== name) return `the cluster of --kubeconfig is ${found}, not ${name}; pass the kubeconfig of ${name}`;
  if (own === undefined) return `${name} has no LatticeCluster of its own; a cluster gets it with the pivot`;
  if (ownership === "moving") return `the Cluster API objects of ${name} are being moved; wait until the pivot has ended`;
  if (ownership !== "owner")
    return `${name} does not own itself: its Cluster API objects are at its parent, which would continue to own them; wait for the pivot`;
  return undefined;
}

function parentRefusal(name: string, child: ChildView, { name: cell, uid, own, entry }: NewParentView): string | undefined {
  if (uid === child.uid) return `--to leads to ${name} itself; pass the kubeconfig of the new parent`;
  if (cell === undefined) return "the cluster of --to is no Lattice cluster: it has no ConfigMap lattice-system/lattice-identity";
  if (cell === name) return `the cluster of --to has the name ${name} too; a parent needs another name`;
  if (own?.endpoint === undefined)
    return `${cell} is no cell: set spec.endpoints.host of LatticeCluster ${cell} to the address that children connect to`;
  if (child.children.includes(cell) || own.cellRef === name) return `${cell} is a child of ${name}, and cannot be its parent`;
  if (own.cellRef !== undefined && child.children.includes(own.cellRef))
    return `${cell} is below ${name}, as a child of ${own.cellRef}, and cannot be its parent`;
  if (entry !== undefined && entry.adopted !== child.uid)
    return `${cell} has a LatticeCluster ${name} already, which is not of this cluster; delete it there first (with spec.deletion.unpivot: false if it is of this cluster)`;
  return undefined;
}

function formerRefusal({ parent }: ChildView, { name: cell }: NewParentView, from: FormerParentView): string | undefined {
  if (typeof from !== "object") return undefined;
  if (from.name === cell) return "--from and --to lead to the same cluster";
  if (parent !== undefined && parent.cell !== cell && from.name !== parent.cell)
    return `--from leads to ${from.name ?? "a cluster without a name"}, and the parent is ${parent.cell}`;
  return undefined;
}

/** What stays at the former parent, for people; undefined: nothing. */
export function remainderOf(name: string, former: string | undefined, from: FormerParentView): string | undefined {
  if (typeof from === "object" || former === undefined) return undefined;
  const why = from === "unreachable" ? ` (${former} does not answer)` : "";
  return `LatticeCluster ${name} stays at ${former}${why}, without any effect on ${name}: there, set spec.deletion.unpivot to false and delete it, or run this command again with --from`;
}
