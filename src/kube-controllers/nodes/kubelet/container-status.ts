/** One container's status, with a kubelet's reasons and messages. */
import { sha256Hex } from "#base";
import type { Container, ContainerState, ContainerStatus, Pod } from "#kube";
import type { Behaviour, Role } from "../faults/behaviour.ts";
import type { Speeds } from "../options.ts";
import { backoffMs, type ContainerRun, type Ended } from "./container-run.ts";

export type Seen = {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: Role;
  readonly run: ContainerRun;
  readonly behaviour: Behaviour;
  readonly speeds: Speeds;
  readonly now: number;
};

export function containerStatus(seen: Seen): ContainerStatus {
  const { pod, container, role, run, behaviour, now } = seen;
  const { image = "" } = container;
  const hasRun = run.stage === "running" || run.ended !== undefined;
  const id = hasRun ? { containerID: containerID(pod, container, run) } : {};
  const isStarted = run.stage === "running" && isPast(run, behaviour.startedAfterMs, now);
  const isServing = role !== "ephemeral" && isStarted && isPast(run, behaviour.readyAfterMs, now);
  const isReady = role === "init" ? run.stage === "over" && run.ended?.code === 0 : isServing;
  return {
    name: container.name,
    state: stateOf(seen),
    lastState: lastStateOf(seen),
    ready: isReady,
    restartCount: run.restarts,
    image,
    imageID: hasRun ? `${image}@sha256:${sha256Hex(image)}` : "",
    ...id,
    ...(role === "ephemeral" ? {} : { started: role !== "init" && isStarted }),
  };
}

function isPast({ since }: ContainerRun, after: number | undefined, now: number): boolean {
  return after !== undefined && since + after <= now;
}

function stateOf(seen: Seen): ContainerState {
  const { pod, container, run, behaviour, speeds } = seen;
  const { image = "" } = container;
  switch (run.stage) {
    case "blocked":
    case "creating":
      if (run.failedPulls === 0)
        return { waiting: { reason: pod.spec.initContainers === undefined ? "ContainerCreating" : "PodInitializing" } };
      return pullBackoff(image, behaviour);
    case "pull-failed":
      return { waiting: { reason: "ErrImagePull", message: behaviour.pullError ?? "" } };
    case "pull-backoff":
      return pullBackoff(image, behaviour);
    case "running":
      return { running: { startedAt: timeText(run.since) } };
    case "backing-off": {
      const { name, namespace = "", uid = "" } = pod.metadata;
      const wait = goDuration(backoffMs(run.crashes - 1, speeds));
      const message = `back-off ${wait} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
      return { waiting: { reason: "CrashLoopBackOff", message } };
    }
    case "restarting":
    case "over":
      return run.ended === undefined ? {} : { terminated: terminated(seen, run.ended) };
  }
}

function pullBackoff(image: string, { pullError = "" }: Behaviour): ContainerState {
  return { waiting: { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}": ErrImagePull: ${pullError}` } };
}

/** The termination before the one in `state`. */
function lastStateOf(seen: Seen): ContainerState {
  const { run } = seen;
  const shown = run.stage === "restarting" || run.stage === "over";
  const last = shown ? run.previous : run.ended;
  return last === undefined ? {} : { terminated: terminated(seen, last) };
}

function terminated(
  { pod, container, run }: Seen,
  { code, reason, startedAt, finishedAt }: Ended,
): NonNullable<ContainerState["terminated"]> {
  const times = finishedAt === 0 ? {} : { startedAt: timeText(startedAt), finishedAt: timeText(finishedAt) };
  return { exitCode: code, reason, ...times, containerID: containerID(pod, container, run) };
}

function containerID({ metadata }: Pod, { name }: Container, { restarts }: ContainerRun): string {
  return `containerd://${sha256Hex(`${metadata.uid}/${name}/${restarts}`)}`;
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

/** "1m20s", as Go prints a duration in whole seconds. */
export function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const [h, m] = [hours > 0 ? `${hours}h` : "", hours > 0 || minutes > 0 ? `${minutes}m` : ""];
  return `${h}${m}${seconds % 60}s`;
}
