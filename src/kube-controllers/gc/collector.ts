/**
 * Checks one object of the graph, and deletes it if none of its owners exists. Port of kube-controller-manager's
 * attemptToDeleteItem and attemptToOrphanWorker.
 *
 * Where the real one reads the object and each of its owners from the API server, this one trusts its informers as long as they have
 * the object: a delete has uid and resourceVersion as preconditions, and a later watch event triggers the object again.
 * An owner that no informer has is always read from the server.
 */
import { ok, type Result } from "#base";
import type { KubeObject, OwnerReference } from "#kube";
import type { KubeError } from "#kube-client";
import { done, failed, passOf, retry, worstPass, type Pass } from "../work.ts";
import { identityOfOwner } from "./identity.ts";
import type { LiveObjects, ObjectPlace, Unknown } from "./live-objects.ts";
import { FOREGROUND, hasFinalizer, ORPHAN, type GraphNode, type OwnerGraph } from "./owner-graph.ts";

type Classified = { readonly solid: string[]; readonly dangling: string[]; readonly waiting: string[] };
type Item = { readonly node: GraphNode; readonly place: ObjectPlace; readonly latest: KubeObject; readonly signal: AbortSignal };

export class Collector {
  readonly #graph: OwnerGraph;
  readonly #live: LiveObjects;

  constructor(graph: OwnerGraph, live: LiveObjects) {
    this.#graph = graph;
    this.#live = live;
  }

  async deletePass(uid: string, signal: AbortSignal): Promise<Pass> {
    const node = this.#graph.node(uid);
    // a terminating object stays terminating: it is only waited for
    if (node === undefined || (node.beingDeleted && !node.deletingDependents)) return done;
    const pass = await this.#look(node, signal);
    // an object that was created and deleted while no watch was open would stay in the graph forever
    const unseen = this.#graph.node(uid) === node && node.virtual;
    return pass.kind === "done" && unseen && !this.#isHopeless(node) ? retry : pass;
  }

  async orphanPass(uid: string, signal: AbortSignal): Promise<Pass> {
    const node = this.#graph.node(uid);
    const place = node === undefined ? undefined : this.#live.placeOf(node.identity);
    if (node === undefined || place === undefined) return done;
    if (!place.ok) return retry;
    const passes = await Promise.all([...node.dependents].map((dependent) => this.#orphan(dependent, uid, signal)));
    const worst = worstPass(passes);
    if (worst.kind !== "done") return worst;
    const latest = await this.#latest(place.value, node, signal);
    if (!latest.ok) return failed(latest.error.message);
    return latest.value === undefined ? done : passOf(await this.#live.removeFinalizer(place.value, latest.value, ORPHAN, signal));
  }

  async #orphan(dependent: GraphNode, ownerUid: string, signal: AbortSignal): Promise<Pass> {
    const place = this.#live.placeOf(dependent.identity);
    if (!place.ok) return retry;
    const latest = await this.#latest(place.value, dependent, signal);
    if (!latest.ok) return failed(latest.error.message);
    if (latest.value === undefined) return done;
    const answer = await this.#live.removeOwners(place.value, latest.value, new Set([ownerUid]), signal);
    return !answer.ok && answer.error.kind === "not-found" ? done : passOf(answer);
  }

  async #look(node: GraphNode, signal: AbortSignal): Promise<Pass> {
    const place = this.#live.placeOf(node.identity);
    if (!place.ok) return passOfUnknown(place.error);
    const latest = await this.#latest(place.value, node, signal);
    if (!latest.ok) return failed(latest.error.message);
    if (latest.value === undefined) return this.#absent(node);
    const item: Item = { node, place: place.value, latest: latest.value, signal };
    if (node.deletingDependents) return this.#finishForeground(item);
    const owners = latest.value.metadata.ownerReferences ?? [];
    if (owners.length === 0) return done;
    const classified = await this.#classify(owners, node, signal);
    return classified.ok ? this.#decide(item, classified.value) : passOfUnknown(classified.error);
  }

  #latest(place: ObjectPlace, node: GraphNode, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const cached = node.virtual ? undefined : this.#live.cached(place, node.uid);
    return cached === undefined ? this.#live.get(place, node.uid, signal) : Promise.resolve(ok(cached));
  }

  #absent(node: GraphNode): Pass {
    return this.#graph.confirmedAbsent(node.identity) === "stays" ? retry : done;
  }

  /** A cluster-scoped object that names a namespaced owner: retrying does not help. */
  #isHopeless({ identity }: GraphNode): boolean {
    const place = this.#live.placeOf(identity);
    return !place.ok && place.error.kind === "needs-namespace";
  }

  async #finishForeground({ node, place, latest, signal }: Item): Promise<Pass> {
    // each blocker was checked when the deletion began, or when it was created; the deletion of the last one triggers this object again
    return node.blockers.size > 0 ? done : passOf(await this.#live.removeFinalizer(place, latest, FOREGROUND, signal));
  }

  async #decide(item: Item, { solid, dangling, waiting }: Classified): Promise<Pass> {
    const { node, place, latest, signal } = item;
    if (solid.length > 0) {
      const stale = new Set([...dangling, ...waiting]);
      return stale.size === 0 ? done : passOf(await this.#live.removeOwners(place, latest, stale, signal));
    }
    if (waiting.length > 0 && node.dependents.size > 0) {
      const mayBeCycle = [...node.dependents].some((dependent) => dependent.deletingDependents);
      const unblocked = mayBeCycle ? await this.#live.unblockOwners(place, latest, signal) : ok(undefined);
      return unblocked.ok ? this.#delete(item, "Foreground") : passOf(unblocked);
    }
    return this.#delete(item, policyOf(latest));
  }

  async #delete({ node, place, latest, signal }: Item, propagation: "Background" | "Foreground" | "Orphan"): Promise<Pass> {
    const answer = await this.#live.delete(place, latest, propagation, signal);
    return answer.ok && !answer.value ? this.#absent(node) : passOf(answer);
  }

  async #classify(
    owners: readonly OwnerReference[],
    node: GraphNode,
    signal: AbortSignal,
  ): Promise<Result<Classified, KubeError | Unknown>> {
    const classified: Classified = { solid: [], dangling: [], waiting: [] };
    for (const reference of owners) {
      const owner = await this.#owner(reference, node, signal);
      if (!owner.ok) return owner;
      const { value } = owner;
      if (value === undefined) classified.dangling.push(reference.uid);
      else if (value.metadata.deletionTimestamp !== undefined && hasFinalizer(value, FOREGROUND)) classified.waiting.push(reference.uid);
      else classified.solid.push(reference.uid);
    }
    return ok(classified);
  }

  /** The owner of a reference; undefined: it does not exist. */
  async #owner(
    reference: OwnerReference,
    node: GraphNode,
    signal: AbortSignal,
  ): Promise<Result<KubeObject | undefined, KubeError | Unknown>> {
    const inNamespace = identityOfOwner(reference, node.identity.namespace);
    const inCluster = identityOfOwner(reference, "");
    if (this.#graph.absent.has(inCluster) || this.#graph.absent.has(inNamespace)) return ok(undefined);
    const place = this.#live.placeOf(inNamespace);
    if (!place.ok) return place;
    const cached = this.#live.cached(place.value, reference.uid);
    if (cached !== undefined) return ok(cached);
    const live = await this.#live.get(place.value, reference.uid, signal);
    if (live.ok && live.value === undefined) this.#graph.absent.add(place.value.resource.namespaced ? inNamespace : inCluster);
    return live;
  }
}

/** The policy that the object's own finalizers require; otherwise background. */
function policyOf(object: KubeObject): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, ORPHAN)) return "Orphan";
  return hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";
}

/** A kind may be served soon: its definition was just created. A cluster-scoped object with a namespaced owner is ignored. */
function passOfUnknown(error: KubeError | Unknown): Pass {
  if ("message" in error) return failed(error.message);
  return error.kind === "needs-namespace" ? done : retry;
}
