import type { ContainerStatus, ExitCodesRequirement, Job, Pod, PodCondition } from "#kube";
/** The effect of a failed Pod on its Job: `podFailurePolicy`. The first matching rule decides; without one, the failure counts. */

export type Verdict = {
  readonly counts: boolean;
  readonly action: "Ignore" | "FailIndex" | "Count" | "FailJob" | undefined;
  /** Why the whole Job fails. */
  readonly message?: string;
};

const COUNTS: Verdict = { counts: true, action: undefined };

export function judge({ spec }: Job, pod: Pod): Verdict {
  for (const [index, { action, onExitCodes, onPodConditions }] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const container = onExitCodes === undefined ? undefined : containerMatching(pod, onExitCodes);
    const condition = onExitCodes !== undefined || onPodConditions === undefined ? undefined : conditionMatching(pod, onPodConditions);
    if (container === undefined && condition === undefined) continue;
    const { namespace, name } = pod.metadata;
    const why =
      container === undefined
        ? `Pod ${namespace}/${name} has condition ${condition?.type}`
        : `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${container.state?.terminated?.exitCode}`;
    return verdictOf(action, `${why} matching ${action} rule at index ${index}`);
  }
  return COUNTS;
}

function verdictOf(action: string, message: string): Verdict {
  switch (action) {
    case "Ignore":
      return { counts: false, action };
    case "FailIndex":
    case "Count":
      return { counts: true, action };
    case "FailJob":
      return { counts: true, action, message };
    default:
      return COUNTS;
  }
}

function containerMatching({ status }: Pod, { containerName, operator, values }: ExitCodesRequirement): ContainerStatus | undefined {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (containerName !== undefined && containerName !== name)) return false;
    return operator === "In" ? values.includes(code) : operator === "NotIn" && !values.includes(code);
  });
}

function conditionMatching(
  { status }: Pod,
  patterns: readonly { readonly type: string; readonly status?: string }[],
): PodCondition | undefined {
  return status?.conditions?.find((condition) =>
    patterns.some(({ type, status: truth = "True" }) => condition.type === type && condition.status === truth),
  );
}
