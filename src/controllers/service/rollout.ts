/** Whether a Deployment is available, and how far its rollout is, as `kubectl rollout status` decides it. Pure. */
import type { Deployment, NewCondition } from "#kube";
import type { ServiceReason } from "./conditions.ts";
import type { PodProblem } from "./pod-problems.ts";

export type ServiceWorkload = {
  /** The Deployment whose pods serve, and whose rollout is reported; absent: there is none. */
  readonly deployment: Deployment | undefined;
  /** The service's own Deployment, if Flagger's primary is the one that serves. */
  readonly target?: Deployment | undefined;
  /** In patch mode: Flagger's copies of the Deployment. Their pods use the config of the service too. */
  readonly copies?: readonly Deployment[] | undefined;
  readonly available: boolean;
  /** Why pods do not run, if they were listed. */
  readonly problem?: PodProblem | undefined;
};

export const NO_WORKLOAD: ServiceWorkload = { deployment: undefined, available: false };

export type ServiceRollout = {
  /** All pods are of the newest version, and ready. */
  readonly done: boolean;
  readonly stuck: boolean;
  /** Enough pods serve, of any version. */
  readonly available: boolean;
  readonly reason: ServiceReason;
  readonly message: string;
};

/**
 * The Available condition of the Deployment, which allows for the pods that a rolling update replaces. It is true with zero pods if
 * `maxUnavailable` is 100 %, and while a Deployment that had no pods is scaled up: then one pod is needed.
 */
export function isAvailable(deployment: Deployment | undefined): boolean {
  const { replicas = 1 } = deployment?.spec ?? {};
  const { availableReplicas = 0 } = deployment?.status ?? {};
  return conditionOf(deployment, "Available", "True") !== undefined && (replicas === 0 || availableReplicas > 0);
}

export function rolloutOf({ deployment, available, problem }: ServiceWorkload): ServiceRollout {
  const progress = progressOf(deployment);
  if (progress.done && !available) return { ...rolling(`${progress.message}, and the Deployment is not available`), available };
  if (progress.done || problem === undefined) return { ...progress, available };
  if (progress.reason === "RollingOut")
    return { ...progress, available, ...problem, message: `${readyPods(deployment)}; ${problem.message}` };
  return { ...progress, available, message: `${progress.message.replace(/\.$/, "")}; ${problem.message}` };
}

function readyPods(deployment: Deployment | undefined): string {
  return `${deployment?.status?.availableReplicas ?? 0} of ${deployment?.spec?.replicas ?? 1} pods are ready`;
}

type Progress = Omit<ServiceRollout, "available">;

function progressOf(deployment: Deployment | undefined): Progress {
  if (deployment === undefined) return rolling("the Deployment is not there yet");
  const { status = {} } = deployment;
  if ((deployment.metadata.generation ?? 0) > (status.observedGeneration ?? 0)) return rolling("the newest spec is not acted on yet");
  const trouble = troubleOf(deployment);
  if (trouble !== undefined) return trouble;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const wanted = deployment.spec?.replicas ?? 1;
  if (updatedReplicas < wanted) return rolling(`${updatedReplicas} of ${wanted} pods are of the newest version`);
  if (replicas > updatedReplicas) return rolling(`${replicas - updatedReplicas} pods of an older version are still there`);
  if (availableReplicas < updatedReplicas) return rolling(`${availableReplicas} of ${updatedReplicas} pods are ready`);
  return { done: true, stuck: false, reason: "RolloutComplete", message: readyPods(deployment) };
}

function rolling(message: string): Progress {
  return { done: false, stuck: false, reason: "RollingOut", message };
}

function conditionOf(deployment: Deployment | undefined, type: string, status: string) {
  return deployment?.status?.conditions?.find((one) => one.type === type && one.status === status);
}

function troubleOf(deployment: Deployment): Progress | undefined {
  const failure = conditionOf(deployment, "ReplicaFailure", "True");
  const late = conditionOf(deployment, "Progressing", "False");
  if (late?.reason === "ProgressDeadlineExceeded") {
    const message = [late.message, failure?.message].filter((text) => text !== undefined).join("; ");
    return { done: false, stuck: true, reason: "ProgressDeadlineExceeded", message };
  }
  return failure === undefined ? undefined : { done: false, stuck: false, reason: "ReplicaFailure", message: failure.message ?? "" };
}

export function workloadsReady({ done, reason, message }: ServiceRollout): NewCondition {
  return { type: "WorkloadsReady", status: done ? "True" : "False", reason, message };
}
