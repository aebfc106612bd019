/** How long a Job waits before it replaces failed Pods: 10 seconds, 20, 40 … 10 minutes, from the last failure on. */
import type { Pod } from "#kube";
import { podCondition, timeOf } from "../pods/pod-state.ts";

const [INITIAL_MS, MAX_MS] = [10_000, 600_000];

export type BackoffRecord = { readonly failures: number; readonly lastFailureAt: number };
export const NO_FAILURES: BackoffRecord = { failures: 0, lastFailureAt: 0 };

/** The record after these Pods have ended. A success resets it; only failures after it count. */
export function backoffAfter(record: BackoffRecord, succeeded: readonly Pod[], failed: readonly Pod[]): BackoffRecord {
  const failedAt = failed.map(finishedAt).toSorted((a, b) => a - b);
  if (succeeded.length === 0) {
    return failed.length === 0 ? record : { failures: record.failures + failed.length, lastFailureAt: failedAt.at(-1) ?? 0 };
  }
  const lastSuccess = succeeded.map(finishedAt).reduce((a, b) => Math.max(a, b));
  const later = failedAt.filter((at) => at > lastSuccess);
  return { failures: later.length, lastFailureAt: later.at(-1) ?? 0 };
}

export function remainingMs({ failures, lastFailureAt }: BackoffRecord, now: number): number {
  if (failures === 0) return 0;
  const wait = Math.min(INITIAL_MS * 2 ** Math.min(failures - 1, 30), MAX_MS);
  return Math.max(0, wait - (now - lastFailureAt));
}

/** When its last container ended; else when it became unready, was deleted, or was created. */
export function finishedAt(pod: Pod): number {
  const { metadata } = pod;
  const ready = podCondition(pod, "Ready");
  const notReadySince = ready?.status === "False" ? timeOf(ready.lastTransitionTime) : 0;
  const deletedAt =
    metadata.deletionTimestamp === undefined ? 0 : timeOf(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
  return containersFinishedAt(pod) || notReadySince || deletedAt || timeOf(metadata.creationTimestamp);
}

function containersFinishedAt({ spec, status }: Pod): number {
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name));
  const counted = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))];
  const times = counted.map(({ state }) => timeOf(state?.terminated?.finishedAt));
  return times.length === 0 || times.includes(0) ? 0 : Math.max(...times);
}
