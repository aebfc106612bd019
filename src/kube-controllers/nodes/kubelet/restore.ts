/**
 * Restores the run of a Pod from its status, for Pods older than this process. Timestamps have whole seconds, so a
 * container may seem up to a second older than it is.
 */
import type { ContainerStatus, Pod } from "#kube";
import { timeOf } from "../../workloads/pods/pod-state.ts";
import { BLOCKED, unblock, type ContainerRun, type Ended } from "./container-run.ts";
import { roleOf, runOf, type PodRun } from "./pod-run.ts";

export function restorePod(pod: Pod, fresh: { readonly now: number; readonly podIP: string }): PodRun {
  const { status } = pod;
  if (status?.startTime === undefined) return { startedAt: fresh.now, podIP: fresh.podIP, containers: new Map() };
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return {
    startedAt: timeOf(status.startTime),
    podIP: status.podIP ?? fresh.podIP,
    containers: new Map(statuses.map((one) => [one.name, restoreContainer(one, fresh.now)])),
  };
}

/** A waiting container waits from now on: the status does not record for how long it has waited. */
function restoreContainer({ state, lastState, restartCount: restarts }: ContainerStatus, now: number): ContainerRun {
  const last = endedOf(lastState?.terminated);
  if (state?.running !== undefined)
    return { ...withEnd(last), stage: "running", since: timeOf(state.running.startedAt), restarts, crashes: restarts };
  const ended = endedOf(state?.terminated);
  if (ended !== undefined)
    return { ...withEnd(ended), ...(last === undefined ? {} : { previous: last }), stage: "over", since: ended.finishedAt, restarts };
  if (last !== undefined) return { ...withEnd(last), stage: "backing-off", since: now, restarts, crashes: restarts + 2 };
  return BLOCKED;
}

function withEnd(ended: Ended | undefined): ContainerRun {
  return ended === undefined ? BLOCKED : { ...BLOCKED, ended };
}

function endedOf(
  terminated:
    | { readonly exitCode: number; readonly reason?: string; readonly startedAt?: string; readonly finishedAt?: string }
    | undefined,
): Ended | undefined {
  if (terminated === undefined) return undefined;
  const { exitCode, reason = "", startedAt, finishedAt } = terminated;
  return { code: exitCode, reason, startedAt: timeOf(startedAt), finishedAt: timeOf(finishedAt) };
}

/**
 * The run of a Pod whose node was replaced by another of the same name: the new machine has none of its containers and starts them, init
 * containers first. Those that may not be restarted have failed.
 */
export function startOver(pod: Pod, run: PodRun, now: number): PodRun {
  const { initContainers = [], containers, ephemeralContainers = [], restartPolicy = "Always" } = pod.spec;
  const first = initContainers[0];
  const again = [...initContainers, ...containers].map((container) => {
    const lost = lostContainer(runOf(run, container), now);
    const isOver = restartPolicy === "Never" && roleOf(pod, container) === "main" && lost.ended !== undefined;
    if (isOver) return [container.name, { ...lost, restarts: runOf(run, container).restarts, stage: "over", since: now }] as const;
    return [container.name, container === first || first === undefined ? unblock(lost, now) : lost] as const;
  });
  const ended = ephemeralContainers.map(({ name }) => [name, { ...BLOCKED, stage: "over", since: now, ended: unknownEnd(now) }] as const);
  return { ...run, containers: new Map([...again, ...ended]) };
}

function lostContainer(run: ContainerRun, now: number): ContainerRun {
  if (run.stage === "running") return { ...BLOCKED, restarts: run.restarts + 1, ended: unknownEnd(now, run.since) };
  return { ...withEnd(run.ended), restarts: run.restarts };
}

/** As a kubelet reports a container that it cannot find. */
function unknownEnd(finishedAt: number, startedAt = 0): Ended {
  return { code: 137, reason: "ContainerStatusUnknown", startedAt, finishedAt };
}
