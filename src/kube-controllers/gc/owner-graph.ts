/**
 * The owner graph, from the informers. It decides nothing: it returns the objects that must be checked, and collector.ts checks them.
 *
 * An owner that no informer has is a *virtual* node: it may not exist, or exist under other coordinates than those of the
 * reference. Every edge has constant cost: an owner in foreground deletion has a set of blocking dependents, and is
 * checked again when that set is empty, not whenever a dependent is deleted.
 */
import type { CacheChange } from "#controller-runtime";
import { jsonEqual, type KubeObject, type OwnerReference } from "#kube";
import type { ServedResource } from "../discovery.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { alternateIdentity, partition } from "./dependents.ts";
import { identityOf, identityOfOwner, refersTo, sameIdentity, type Identity } from "./identity.ts";

export const ORPHAN = "orphan";
export const FOREGROUND = "foregroundDeletion";

export type GraphNode = {
  readonly uid: string;
  identity: Identity;
  owners: readonly OwnerReference[];
  readonly dependents: Set<GraphNode>;
  /** Dependents whose reference has blockOwnerDeletion. */
  readonly blockers: Set<GraphNode>;
  virtual: boolean;
  beingDeleted: boolean;
  /** In foreground deletion: waits for the deletion of its blocking dependents. */
  deletingDependents: boolean;
};

export type GraphEvents = {
  readonly worthDeleting: (node: GraphNode) => void;
  readonly worthOrphaning: (node: GraphNode) => void;
  /** The reference crosses namespaces, which is not allowed. */
  readonly crossesNamespaces: (dependent: GraphNode, owner: OwnerReference) => void;
};

export class OwnerGraph {
  readonly absent = new AbsentOwners();
  readonly #nodes = new Map<string, GraphNode>();
  readonly #events: GraphEvents;

  constructor(events: GraphEvents) {
    this.#events = events;
  }

  get size(): number {
    return this.#nodes.size;
  }

  node(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  changed(resource: ServedResource, { before, after }: CacheChange<KubeObject>): void {
    const same = before !== undefined && before.metadata.uid === after?.metadata.uid;
    if (before !== undefined && !same) this.#deleted(identityOf(resource, before));
    if (after !== undefined) this.#seen(identityOf(resource, after), same ? before : undefined, after);
  }

  /** The object is no longer observed. If it has dependents, it is checked again; its deletion is not assumed. */
  forgotten(resource: ServedResource, object: KubeObject): void {
    const node = this.#nodes.get(object.metadata.uid ?? "");
    if (node === undefined || !sameIdentity(node.identity, identityOf(resource, object))) return;
    this.#setOwners(node, []);
    node.virtual = true;
    if (node.dependents.size > 0) this.#events.worthDeleting(node);
    else this.#nodes.delete(node.uid);
  }

  /** The API server has no such object. Returns whether a virtual node stays, under other coordinates. */
  confirmedAbsent(identity: Identity): "gone" | "stays" {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return "gone";
    const { matching, contradicting } = partition(node, identity);
    const keep = node.virtual ? contradicting.length > 0 : !sameIdentity(node.identity, identity);
    if (!keep) {
      this.#remove(node, identity);
      return "gone";
    }
    if (matching.length > 0) this.absent.add(identity);
    for (const dependent of matching) this.#events.worthDeleting(dependent);
    if (!node.virtual) return "gone";
    node.identity = alternateIdentity(contradicting, identity) ?? node.identity;
    return "stays";
  }

  #seen(identity: Identity, before: KubeObject | undefined, after: KubeObject): void {
    const known = this.#nodes.get(identity.uid);
    const node = known ?? newNode(identity);
    if (known === undefined) this.#nodes.set(identity.uid, node);
    else if (known.virtual) this.#materialise(known, identity);
    this.#setOwners(node, after.metadata.ownerReferences ?? []);
    node.beingDeleted ||= isBeingDeleted(after);
    this.#beginDeletion(node, before, after);
  }

  /** A virtual node turns out to exist: dependents with other coordinates for this uid are queued. */
  #materialise(node: GraphNode, identity: Identity): void {
    node.virtual = false;
    if (sameIdentity(node.identity, identity)) return;
    node.identity = identity;
    for (const dependent of partition(node, identity).contradicting) {
      const wrongNamespace = identity.namespace !== "" && dependent.identity.namespace !== identity.namespace;
      const reference = dependent.owners.find(({ uid }) => uid === identity.uid);
      if (wrongNamespace && reference !== undefined) this.#events.crossesNamespaces(dependent, reference);
      this.#events.worthDeleting(dependent);
    }
  }

  #beginDeletion(node: GraphNode, before: KubeObject | undefined, after: KubeObject): void {
    if (startsWaiting(ORPHAN, before, after)) return this.#events.worthOrphaning(node);
    if (!startsWaiting(FOREGROUND, before, after)) return;
    node.deletingDependents = true;
    for (const dependent of node.dependents) this.#events.worthDeleting(dependent);
    this.#events.worthDeleting(node);
  }

  #setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    if (jsonEqual(node.owners, owners)) return;
    const known = new Set(node.owners.map(({ uid }) => uid));
    const touched = new Set([...known, ...owners.map(({ uid }) => uid)]);
    node.owners = owners;
    this.#linkNew(
      node,
      owners.filter(({ uid }) => !known.has(uid)),
    );
    for (const uid of touched) this.#updateEdge(node, uid);
  }

  #linkNew(node: GraphNode, added: readonly OwnerReference[]): void {
    let doubtful = false;
    for (const reference of added) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) {
        const virtual = { ...newNode(identityOfOwner(reference, node.identity.namespace)), virtual: true };
        this.#nodes.set(reference.uid, virtual);
        this.#events.worthDeleting(virtual);
      } else {
        doubtful ||= this.#isDoubtful(node, reference, owner);
        // it was added after the dependents were queued for the owner's deletion
        if (owner.deletingDependents) this.#events.worthDeleting(node);
      }
    }
    if (doubtful) this.#events.worthDeleting(node);
  }

  #isDoubtful(node: GraphNode, reference: OwnerReference, owner: GraphNode): boolean {
    const { namespace } = owner.identity;
    if (namespace !== "" && namespace !== node.identity.namespace) {
      if (!owner.virtual) this.#events.crossesNamespaces(node, reference);
      return true;
    }
    // a virtual owner without a namespace was referenced by a cluster-scoped object; its kind may be namespaced
    return !refersTo(reference, owner.identity) || (owner.virtual && namespace !== node.identity.namespace);
  }

  #updateEdge(node: GraphNode, ownerUid: string): void {
    const owner = this.#nodes.get(ownerUid);
    if (owner === undefined) return;
    const references = node.owners.filter(({ uid }) => uid === ownerUid);
    if (references.length > 0) owner.dependents.add(node);
    else owner.dependents.delete(node);
    if (references.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) owner.blockers.add(node);
    else if (owner.blockers.delete(node) && owner.blockers.size === 0 && owner.deletingDependents) this.#events.worthDeleting(owner);
    if (owner.virtual && owner.dependents.size === 0) this.#nodes.delete(ownerUid);
  }

  #deleted(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node !== undefined) this.#remove(node, identity);
  }

  #remove(node: GraphNode, identity: Identity): void {
    this.#nodes.delete(node.uid);
    if (node.dependents.size > 0) this.absent.add(identity);
    for (const dependent of node.dependents) this.#events.worthDeleting(dependent);
    for (const { uid } of node.owners) {
      const owner = this.#nodes.get(uid);
      if (owner === undefined) continue;
      owner.dependents.delete(node);
      owner.blockers.delete(node);
      if (owner.deletingDependents && owner.blockers.size === 0) this.#events.worthDeleting(owner);
      if (owner.virtual && owner.dependents.size === 0) this.#nodes.delete(uid);
    }
  }
}

function newNode(identity: Identity): GraphNode {
  return {
    uid: identity.uid,
    identity,
    owners: [],
    dependents: new Set(),
    blockers: new Set(),
    virtual: false,
    beingDeleted: false,
    deletingDependents: false,
  };
}

function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function startsWaiting(finalizer: string, before: KubeObject | undefined, after: KubeObject): boolean {
  const waits = (object: KubeObject) => isBeingDeleted(object) && hasFinalizer(object, finalizer);
  return waits(after) && (before === undefined || !waits(before));
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
