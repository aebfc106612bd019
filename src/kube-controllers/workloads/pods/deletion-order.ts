/**
 * Which Pods are deleted first when there are too many: those that serve least, then those on the same node, then the young.
 *
 * Ages are compared by their logarithm: Pods of two and of three hours are equally old, and then the uid decides. So a
 * scale-down does not always delete the newest Pods, which all run on the same new nodes.
 */
import type { Pod, PodPhase } from "#kube";
import { isPodActive, isPodReady, readySince, timeOf } from "./pod-state.ts";

const PHASES: Readonly<Record<PodPhase, number>> = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 0, Failed: 0 };

/** Worst first. `related` are the Pods of all ReplicaSets of the same owner: Pods of nodes with many of them are deleted sooner. */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], now: number): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const pod of related) {
    if (isPodActive(pod)) onNode.set(nodeOf(pod), (onNode.get(nodeOf(pod)) ?? 0) + 1);
  }
  return pods.toSorted((a, b) => compareForDeletion(a, b, { now, rank: (pod) => onNode.get(nodeOf(pod)) ?? 0 }));
}

type Circumstances = { readonly now: number; readonly rank: (pod: Pod) => number };

function compareForDeletion(a: Pod, b: Pod, { now, rank }: Circumstances): number {
  return (
    compareUsefulness(a, b) ||
    deletionCost(a) - deletionCost(b) ||
    rank(b) - rank(a) ||
    (isPodReady(a) && isPodReady(b) ? compareAge(a, b, readySince, now) : 0) ||
    compareRestarts(a, b) ||
    compareAge(a, b, createdAt, now)
  );
}

/** The order for Jobs: without costs, ranks and logarithms. */
export function inPlainDeletionOrder(pods: readonly Pod[]): readonly Pod[] {
  return pods.toSorted(
    (a, b) =>
      compareUsefulness(a, b) ||
      (isPodReady(a) && isPodReady(b) ? readySince(b) - readySince(a) : 0) ||
      compareRestarts(a, b) ||
      createdAt(b) - createdAt(a),
  );
}

function compareUsefulness(a: Pod, b: Pod): number {
  return (
    Number(nodeOf(a) !== "") - Number(nodeOf(b) !== "") ||
    PHASES[a.status?.phase ?? "Pending"] - PHASES[b.status?.phase ?? "Pending"] ||
    Number(isPodReady(a)) - Number(isPodReady(b))
  );
}

function compareAge(a: Pod, b: Pod, at: (pod: Pod) => number, now: number): number {
  const [first, second] = [at(a), at(b)];
  if (first === second) return 0;
  if (first === 0 || second === 0) return first === 0 ? -1 : 1;
  return logarithmicAge(first, now) - logarithmicAge(second, now) || ((a.metadata.uid ?? "") < (b.metadata.uid ?? "") ? -1 : 1);
}

/** In nanoseconds, as in Go: so that the logarithms have the same steps. */
function logarithmicAge(at: number, now: number): number {
  const age = (now - at) * 1_000_000;
  return age > 0 ? Math.trunc(Math.log2(age)) : -1;
}

function compareRestarts(a: Pod, b: Pod): number {
  return mostRestarts(b) - mostRestarts(a) || mostSidecarRestarts(b) - mostSidecarRestarts(a);
}

function mostRestarts(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}

function mostSidecarRestarts(pod: Pod): number {
  const sidecars = new Set(
    (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const statuses = (pod.status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}

function deletionCost(pod: Pod): number {
  const annotations = pod.metadata.annotations ?? {};
  const text = Object.hasOwn(annotations, COST) ? annotations[COST] : undefined;
  return text !== undefined && /^(0|-?[1-9][0-9]{0,9})$/.test(text) ? Number(text) : 0;
}

const COST = "controller.kubernetes.io/pod-deletion-cost";

function createdAt(pod: Pod): number {
  return timeOf(pod.metadata.creationTimestamp);
}

function nodeOf(pod: Pod): string {
  return pod.spec.nodeName ?? "";
}
