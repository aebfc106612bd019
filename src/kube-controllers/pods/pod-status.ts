import type { Pod, PodCondition } from "#kube";
/** Pod conditions, as kubelet and controllers write them. */

export function podCondition({ status }: Pod, type: string): PodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isPodReady(pod: Pod): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

export function isPodFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** The conditions with `next` added or replaced; the transition time changes only with the status. */
export function withPodCondition(pod: Pod, next: PodCondition, now: string): readonly PodCondition[] {
  const { generation } = pod.metadata;
  const before = podCondition(pod, next.type);
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? now) : now;
  const condition = { ...next, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const conditions = pod.status?.conditions ?? [];
  return before === undefined ? [...conditions, condition] : conditions.map((known) => (known === before ? condition : known));
}
