/** The status of a StatefulSet from its Pods. Pure. */
import type { Pod, StatefulSet, StatefulSetStatus } from "#kube";
import { isPodAvailable, isPodReady } from "../pods/pod-state.ts";
import { omitEmpty } from "../pods/status-update.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { podRevision } from "./identity.ts";

export type Revisions = { readonly current: string; readonly update: string; readonly collisions: number };

/** A server without defaults of Pods leaves the phase to the kubelet. */
function isCreated({ status }: Pod): boolean {
  return status?.phase !== undefined;
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isPodReady(pod);
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isAvailable(set: StatefulSet, pod: Pod, now: number): boolean {
  return isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}

/** `deleted`: Pods of the current revision that this pass has deleted. */
export function setStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  at: { revisions: Revisions; now: number; deleted?: number },
): StatefulSetStatus {
  const { revisions, now, deleted = 0 } = at;
  const created = pods.filter(isCreated);
  const ready = pods.filter(isRunningAndReady);
  const staying = created.filter((pod) => !isTerminating(pod));
  const of = (revision: string) => staying.filter((pod) => podRevision(pod) === revision).length;
  const counts = { replicas: created.length, readyReplicas: ready.length, updatedReplicas: of(revisions.update) };
  const complete = isComplete(set, counts);
  return {
    ...omitEmpty({ observedGeneration: set.metadata.generation }),
    replicas: counts.replicas,
    ...omitEmpty({
      readyReplicas: counts.readyReplicas,
      currentReplicas: complete ? counts.updatedReplicas : of(revisions.current) - deleted,
      updatedReplicas: counts.updatedReplicas,
      currentRevision: complete ? revisions.update : revisions.current,
      updateRevision: revisions.update,
    }),
    collisionCount: revisions.collisions,
    availableReplicas: ready.filter((pod) => isAvailable(set, pod, now)).length,
  };
}

/** Every Pod is of the new revision and ready: it becomes the current revision. */
function isComplete(
  set: StatefulSet,
  counts: { readonly replicas: number; readonly readyReplicas: number; readonly updatedReplicas: number },
): boolean {
  const desired = replicasOf(set);
  const rolling = set.spec.updateStrategy?.type !== "OnDelete";
  return rolling && counts.updatedReplicas === desired && counts.readyReplicas === desired && counts.replicas === desired;
}
