/** How far a Deployment has got, as `kubectl rollout status` tells it. Pure. */
import type { NewCondition } from "#kube";
import type { DeploymentObject } from "../kinds.ts";
import type { ServiceReason } from "./conditions.ts";

export type Rollout = { readonly done: boolean; readonly stuck: boolean; readonly reason: ServiceReason; readonly message: string };

export function rolloutOf(deployment: DeploymentObject | undefined): Rollout {
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
  return { done: true, stuck: false, reason: "RolloutComplete", message: `${availableReplicas} of ${wanted} pods are ready` };
}

function rolling(message: string): Rollout {
  return { done: false, stuck: false, reason: "RollingOut", message };
}

function troubleOf({ status }: DeploymentObject): Rollout | undefined {
  const find = (type: string, wanted: string) => status?.conditions?.find((one) => one.type === type && one.status === wanted);
  const late = find("Progressing", "False");
  if (late?.reason === "ProgressDeadlineExceeded") {
    const failure = find("ReplicaFailure", "True")?.message;
    const message = [late.message, failure].filter((text) => text !== undefined).join("; ");
    return { done: false, stuck: true, reason: "ProgressDeadlineExceeded", message };
  }
  const failure = find("ReplicaFailure", "True");
  return failure === undefined ? undefined : { done: false, stuck: false, reason: "ReplicaFailure", message: failure.message ?? "" };
}

export function workloadsReady({ done, reason, message }: Rollout): NewCondition {
  return { type: "WorkloadsReady", status: done ? "True" : "False", reason, message };
}
