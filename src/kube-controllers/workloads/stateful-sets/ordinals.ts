/**
 * Which ordinals of a StatefulSet have a Pod, and which lack one. Pure.
 *
 * `spec.replicas` may be 2,147,483,647: missing ordinals are found by iterating over existing Pods, never over the number.
 */
import type { Pod, StatefulSet } from "#kube";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { isInRange, ordinalOf, startOrdinal } from "./identity.ts";

export type SetPods = {
  /** Of ordinals that the set wants, lowest first; one per ordinal. */
  readonly present: readonly Pod[];
  /** Of ordinals that it no longer wants, highest first. */
  readonly condemned: readonly Pod[];
};

export function sortPods(set: StatefulSet, pods: readonly Pod[]): SetPods {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const present = [...byOrdinal].filter(([ordinal]) => isInRange(set, ordinal)).toSorted(([a], [b]) => a - b);
  const condemned = pods.filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, ordinalOf(pod)));
  return { present: present.map(([, pod]) => pod), condemned: condemned.toSorted((a, b) => ordinalOf(b) - ordinalOf(a)) };
}

/** A Pod that exists, or the ordinal of one that is to be created. */
export type Slot = Pod | number;

/** Lowest ordinal first: every Pod in range, and the first `most` ordinals without one. */
export function slotsOf(set: StatefulSet, present: readonly Pod[], most: number): readonly Slot[] {
  const slots: Slot[] = [];
  let [next, missing] = [startOrdinal(set), 0];
  const addMissing = (end: number) => {
    for (; next < end && missing < most; next += 1, missing += 1) slots.push(next);
  };
  for (const pod of present) {
    addMissing(ordinalOf(pod));
    slots.push(pod);
    next = ordinalOf(pod) + 1;
  }
  addMissing(startOrdinal(set) + replicasOf(set));
  return slots;
}

/** Highest ordinal first, down to the partition, as long as no ordinal in between lacks its Pod: an update waits for it. */
export function updateCandidates(set: StatefulSet, present: readonly Pod[]): readonly Pod[] {
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const lowest = startOrdinal(set) + partition;
  const last = startOrdinal(set) + replicasOf(set) - 1;
  const descending = present.toReversed();
  const gap = descending.findIndex((pod, at) => ordinalOf(pod) !== last - at || ordinalOf(pod) < lowest);
  return gap < 0 ? descending : descending.slice(0, gap);
}
