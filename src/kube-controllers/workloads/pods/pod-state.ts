import type { Pod, PodCondition } from "#kube";
/** Properties of a Pod from its status: ready, available, active. Shared by all controllers. */

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** Milliseconds since 1970; 0 when the time is missing, like Go's zero time. */
export function timeOf(text: string | null | undefined): number {
  if (text === undefined || text === null) return 0;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : ms;
}

/** When it became ready; 0 if it is not. */
export function readySince(pod: Pod): number {
  const ready = podCondition(pod, "Ready");
  return ready?.status === "True" ? timeOf(ready.lastTransitionTime) : 0;
}

export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySince(pod);
  return since > 0 && since + minReadySeconds * 1_000 <= now;
}

/** Time until the next of these Pods becomes available; undefined when none will by time alone. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds <= 0) return undefined;
  const waits = pods.flatMap((pod) => {
    const since = readySince(pod);
    const wait = since + minReadySeconds * 1_000 - now;
    return since > 0 && wait > 0 ? [wait] : [];
  });
  return waits.length === 0 ? undefined : waits.reduce((a, b) => Math.min(a, b));
}

export function isPodOver(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isPodActive(pod: Pod): boolean {
  return !isPodOver(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isPodTerminating(pod: Pod): boolean {
  return !isPodOver(pod) && pod.metadata.deletionTimestamp !== undefined;
}
