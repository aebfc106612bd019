/** The status of a ReplicaSet from its Pods. Pure. */
import { matches, requirementsOf, type Pod, type PodTemplate, type ReplicaSetStatus, type WorkloadCondition } from "#kube";
import { isPodAvailable, isPodReady } from "../pods/pod-state.ts";
import { omitEmpty } from "../pods/status-update.ts";
import { replicasOf, type Replicated } from "./replica-kind.ts";

const FAILURE = "ReplicaFailure";

export type Observed = {
  readonly active: readonly Pod[];
  /** Absent where the kind does not count them. */
  readonly terminating: readonly Pod[] | undefined;
  /** The error of creating or deleting Pods in this pass. */
  readonly failure: string | undefined;
  readonly now: number;
  readonly nowText: string;
};

export function replicaStatus(object: Replicated, template: PodTemplate, observed: Observed): ReplicaSetStatus {
  const { active, terminating, now } = observed;
  const labels = requirementsOf({ matchLabels: template.metadata?.labels ?? {} });
  const ready = active.filter(isPodReady);
  const conditions = failureConditions(object, observed);
  return {
    ...object.status,
    replicas: active.length,
    ...zeroed(["fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "conditions"]),
    ...omitEmpty({
      fullyLabeledReplicas: active.filter((pod) => matches(labels, pod.metadata.labels)).length,
      readyReplicas: ready.length,
      availableReplicas: ready.filter((pod) => isPodAvailable(pod, object.spec.minReadySeconds ?? 0, now)).length,
      observedGeneration: object.metadata.generation,
      conditions,
    }),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating.length }),
  };
}

/** Fields of the old status that the new one sets again, or not at all. */
function zeroed(names: readonly string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** The first failure is kept until there is none: its message must not change with every rejected Pod. */
function failureConditions({ spec, status }: Replicated, { active, failure, nowText }: Observed): readonly WorkloadCondition[] {
  const conditions = status?.conditions ?? [];
  const known = conditions.some(({ type }) => type === FAILURE);
  if (failure === undefined) return known ? conditions.filter(({ type }) => type !== FAILURE) : conditions;
  if (known) return conditions;
  const reason = active.length < replicasOf({ spec }) ? "FailedCreate" : "FailedDelete";
  return [...conditions, { type: FAILURE, status: "True", lastTransitionTime: nowText, reason, message: failure }];
}
