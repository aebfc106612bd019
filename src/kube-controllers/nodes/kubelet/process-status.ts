/** The status of a Pod that runs as processes, from the states of its containers. Pure; reasons and messages are a kubelet's. */
import { sha256Hex } from "#base";
import type { Container, ContainerState, ContainerStatus, Pod, PodPhase, PodStatus } from "#kube";
import type { ContainerProcess, EndedContainer } from "../pod-processes.ts";
import { timeText } from "./container-status.ts";
import { composePodStatus } from "./pod-status.ts";

export type ProcessView = {
  readonly pod: Pod;
  /** By container name; undefined: nothing has been started yet. */
  readonly states: ReadonlyMap<string, ContainerProcess> | undefined;
  /** No container is started again: the Pod is deleted, and all of them have ended. */
  readonly isFinal: boolean;
  readonly written: PodStatus;
  readonly startedAt: number;
  readonly podIP: string;
  readonly hostIP: string;
  readonly now: number;
};

export function processPodStatus(view: ProcessView): PodStatus {
  const { pod, states, written, startedAt, podIP, hostIP, now } = view;
  const statuses = (containers: readonly Container[] = []) => containers.map((container) => processStatus(view, container));
  const [inits, mains] = [statuses(pod.spec.initContainers), statuses(pod.spec.containers)];
  const phase = phaseOfProcesses(view, inits, mains);
  const ephemeral = statuses(pod.spec.ephemeralContainers);
  const facts = { pod, inits, mains, ephemeral, phase, hasNetwork: states !== undefined, hostIP, podIP, startedAt };
  return composePodStatus(facts, written.conditions ?? [], now);
}

function processStatus({ pod, states, written }: ProcessView, container: Container): ContainerStatus {
  const process = states?.get(container.name);
  const { name, image = "" } = container;
  const isInit = pod.spec.initContainers?.includes(container) === true && container.restartPolicy !== "Always";
  const isEphemeral = pod.spec.ephemeralContainers?.includes(container) === true;
  const isRunning = process?.state.kind === "running";
  const hasRun = process !== undefined && (process.state.kind !== "waiting" || process.last !== undefined);
  const state = process === undefined ? notCreated(pod) : stateOf(pod, container, process);
  return {
    name,
    state,
    lastState: process === undefined ? {} : lastStateOf({ pod, container, process, written }),
    ready: isInit ? state.terminated?.exitCode === 0 : isRunning && process.ready,
    restartCount: process?.restarts ?? 0,
    image,
    imageID: hasRun ? `${image}@sha256:${sha256Hex(image)}` : "",
    ...(hasRun ? { containerID: containerID(pod, name, process.restarts) } : {}),
    ...(isEphemeral ? {} : { started: isRunning && !isInit }),
  };
}

function notCreated({ spec }: Pod): ContainerState {
  return { waiting: { reason: spec.initContainers === undefined ? "ContainerCreating" : "PodInitializing" } };
}

function stateOf(pod: Pod, { name }: Container, { state, restarts }: ContainerProcess): ContainerState {
  switch (state.kind) {
    case "waiting":
      return { waiting: { reason: state.reason, ...(state.message === "" ? {} : { message: state.message }) } };
    case "running":
      return { running: { startedAt: timeText(state.startedAt) } };
    case "ended":
      return { terminated: terminated(state, containerID(pod, name, restarts)) };
  }
}

type LastSeen = { readonly pod: Pod; readonly container: Container; readonly process: ContainerProcess; readonly written: PodStatus };

/** How the container before this one ended. A port that does not know it any more does not change what was written. */
function lastStateOf({ pod, container: { name }, process: { state, last, restarts }, written }: LastSeen): ContainerState {
  if (last === undefined) return (restarts === 0 ? undefined : statusNamed(written, name)?.lastState) ?? {};
  // while it waits for its next start, the last container is the newest one
  return { terminated: terminated(last, containerID(pod, name, state.kind === "waiting" ? restarts : restarts - 1)) };
}

export function statusNamed({ initContainerStatuses = [], containerStatuses = [] }: PodStatus, name: string): ContainerStatus | undefined {
  return [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
}

function terminated({ exitCode, startedAt, finishedAt }: EndedContainer, id: string): NonNullable<ContainerState["terminated"]> {
  // it never ran: the Pod was deleted before
  if (startedAt === 0) return { exitCode: 137, reason: "ContainerStatusUnknown", message: NEVER_RAN };
  const reason = exitCode === 0 ? "Completed" : "Error";
  return { exitCode, reason, startedAt: timeText(startedAt), finishedAt: timeText(finishedAt), containerID: id };
}

const NEVER_RAN = "The container could not be located when the pod was terminated";

/** Each start is a container of its own. */
function containerID({ metadata }: Pod, name: string, start: number): string {
  return `containerd://${sha256Hex(`${metadata.uid}/${name}/${start}`)}`;
}

function phaseOfProcesses({ pod, isFinal }: ProcessView, inits: readonly ContainerStatus[], mains: readonly ContainerStatus[]): PodPhase {
  const { restartPolicy = "Always", initContainers = [] } = pod.spec;
  const isPending = initContainers.some(({ restartPolicy: own }, index) => own !== "Always" && inits[index]?.ready !== true);
  const hasFailed = inits.some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (isPending) return hasFailed && (restartPolicy === "Never" || isFinal) ? "Failed" : "Pending";
  if (mains.some(({ state, lastState }) => state?.waiting !== undefined && lastState?.terminated === undefined)) return "Pending";
  if (mains.some(({ state }) => state?.running !== undefined)) return "Running";
  if (restartPolicy === "Always" && !isFinal) return "Running";
  const codes = mains.map(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.exitCode);
  if (codes.every((code) => code === 0)) return "Succeeded";
  return restartPolicy === "Never" || isFinal ? "Failed" : "Running";
}
