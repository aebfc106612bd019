/** What a kubelet shows of a process: from the supervisor's report to a container's state. Pure. */
import type { ContainerProcess, ContainerProcessState, EndedContainer } from "#kube-controllers";
import type { PodProcessReport } from "../messages/messages.ts";

const CREATING: ContainerProcessState = { kind: "waiting", reason: "ContainerCreating", message: "" };

/** Not started yet. `problem`: why it cannot be. */
export function notStarted(problem?: string): ContainerProcess {
  const state: ContainerProcessState =
    problem === undefined ? CREATING : { kind: "waiting", reason: "CreateContainerConfigError", message: problem };
  return { state, restarts: 0, ready: false };
}

/** `finishedAt`: for a process that never started. */
export function neverStarted(finishedAt: number): ContainerProcess {
  return { state: { kind: "ended", exitCode: 0, startedAt: 0, finishedAt }, restarts: 0, ready: false };
}

export function containerView(report: PodProcessReport, now: number): ContainerProcess {
  const { restarts, ready, phase } = report;
  const last: EndedContainer | undefined = report.last === undefined ? undefined : { kind: "ended", ...report.last };
  const view = { restarts, ready: ready && phase === "running" };
  switch (phase) {
    case "idle":
      return { ...view, state: CREATING, last };
    case "running":
    case "stopping":
      return { ...view, state: { kind: "running", startedAt: report.startedAt ?? now }, last };
    case "waiting":
      return { ...view, state: backOff(report), last };
    case "ended":
      return last === undefined ? { ...neverStarted(now), restarts } : { ...view, state: last };
  }
}

function backOff({ delayMs = 0, problem, container, pod }: PodProcessReport): ContainerProcessState {
  if (problem !== undefined) return { kind: "waiting", reason: "RunContainerError", message: `the process cannot be started: ${problem}` };
  return {
    kind: "waiting",
    reason: "CrashLoopBackOff",
    message: `back-off ${delayMs / 1_000}s restarting failed container=${container} pod=${pod}`,
  };
}
