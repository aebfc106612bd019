/**
 * The resources in use on each node. Updated by changes, because adding up all Pods for each of a thousand Pods would be a million sums.
 *
 * A Pod that was just bound counts at once ("assumed"): the next one must not get the same resources before the watch event arrives.
 */
import { addQuantities, type Pod, type Quantity } from "#kube";
import { podRequests, type ResourceAmounts } from "../../workloads/placement/requests.ts";
import { isPodOver } from "../../workloads/pods/pod-state.ts";
import { antiAffinityTerms, type PodTerm } from "./affinity-terms.ts";

type Booking = {
  readonly node: string;
  readonly pod: Pod;
  readonly requests: ResourceAmounts;
  /** The terms of its required anti-affinity. */
  readonly excludes: readonly PodTerm[];
};

export class Ledger {
  /** By uid. */
  readonly #bookings = new Map<string, Booking>();
  /** Those with anti-affinity: most Pods have none. */
  readonly #excluding = new Map<string, Booking>();
  readonly #used = new Map<string, Map<string, Quantity>>();
  readonly #pods = new Map<string, Map<string, Pod>>();

  /** A Pod as it is in the cache now. */
  see(pod: Pod): void {
    const { uid = "" } = pod.metadata;
    const { nodeName } = pod.spec;
    if (isPodOver(pod)) return this.forget(pod);
    if (nodeName !== undefined && nodeName !== "") this.book(uid, nodeName, pod);
  }

  book(uid: string, node: string, pod: Pod): void {
    this.#cancel(uid);
    const requests = podRequests(pod);
    const booking = { node, pod, requests, excludes: antiAffinityTerms(pod) };
    this.#bookings.set(uid, booking);
    if (booking.excludes.length > 0) this.#excluding.set(uid, booking);
    this.#add(node, requests, 1n);
    at(this.#pods, node).set(uid, pod);
  }

  forget({ metadata: { uid = "" } }: Pod): void {
    this.#cancel(uid);
  }

  used(node: string): ResourceAmounts {
    return this.#used.get(node) ?? new Map();
  }

  podsOn(node: string): readonly Pod[] {
    return [...(this.#pods.get(node)?.values() ?? [])];
  }

  /** Pods that exclude others from their topology domain. */
  excludingPods(): readonly { readonly node: string; readonly excludes: readonly PodTerm[] }[] {
    return [...this.#excluding.values()];
  }

  count(node: string): number {
    return this.#pods.get(node)?.size ?? 0;
  }

  #cancel(uid: string): void {
    const booking = this.#bookings.get(uid);
    if (booking === undefined) return;
    this.#bookings.delete(uid);
    this.#excluding.delete(uid);
    this.#add(booking.node, booking.requests, -1n);
    this.#pods.get(booking.node)?.delete(uid);
  }

  #add(node: string, amounts: ResourceAmounts, sign: 1n | -1n): void {
    const used = at(this.#used, node);
    for (const [name, amount] of amounts) {
      const signed = (amount * sign) as Quantity;
      const before = used.get(name);
      used.set(name, before === undefined ? signed : addQuantities(before, signed));
    }
  }
}

function at<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key);
  if (inner === undefined) map.set(key, (inner = new Map()));
  return inner;
}
