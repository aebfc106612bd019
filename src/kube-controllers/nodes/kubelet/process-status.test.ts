import { describe, expect, it } from "vitest";
import type { Pod, PodPhase, PodSpec, PodStatus } from "#kube";
import type { ContainerProcess, EndedContainer } from "../pod-processes.ts";
import { processNotes } from "./process-notes.ts";
import { processPodStatus, type ProcessView } from "./process-status.ts";

const now = Date.UTC(2026, 0, 1);
const podOf = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: "u", generation: 2 },
  spec: { containers: [{ name: "web", image: "w" }], ...spec },
});
const ended = (exitCode: number, startedAt = now - 9_000): EndedContainer => ({
  kind: "ended",
  exitCode,
  startedAt,
  finishedAt: now - 1_000,
});
const process = (state: ContainerProcess["state"], more: Partial<ContainerProcess> = {}): ContainerProcess => ({
  state,
  restarts: 0,
  ready: false,
  ...more,
});
const running = process({ kind: "running", startedAt: now }, { ready: true });
const waiting = (reason: string, last?: EndedContainer) => process({ kind: "waiting", reason, message: "" }, { last });

function statusOf(pod: Pod, states: Readonly<Record<string, ContainerProcess>> | undefined, more: Partial<ProcessView> = {}): PodStatus {
  const known = states === undefined ? undefined : new Map(Object.entries(states));
  const view = { pod, states: known, isFinal: false, written: {}, startedAt: now, podIP: "10.244.0.2", hostIP: "172.18.0.2", now };
  return processPodStatus({ ...view, ...more });
}

describe("phase", () => {
  const init: Partial<PodSpec> = { initContainers: [{ name: "first", image: "i" }] };
  const sidecar: Partial<PodSpec> = { initContainers: [{ name: "side", image: "i", restartPolicy: "Always" }] };
  it.each<{ name: string; spec?: Partial<PodSpec>; states?: Record<string, ContainerProcess>; isFinal?: boolean; want: PodPhase }>([
    { name: "nothing is known", want: "Pending" },
    { name: "nothing is started", states: {}, want: "Pending" },
    { name: "it waits for its first start", states: { web: waiting("ContainerCreating") }, want: "Pending" },
    { name: "it runs", states: { web: running }, want: "Running" },
    { name: "it waits for its next start", states: { web: waiting("CrashLoopBackOff", ended(1)) }, want: "Running" },
    { name: "it ended and is started again", states: { web: process(ended(1)) }, want: "Running" },
    { name: "it ended with 0, and is deleted", states: { web: process(ended(0)) }, isFinal: true, want: "Succeeded" },
    { name: "it failed, and is deleted", states: { web: process(ended(143)) }, isFinal: true, want: "Failed" },
    { name: "it never ran, and is deleted", states: { web: process(ended(0, 0)) }, isFinal: true, want: "Failed" },
    { name: "Never, ended with 0", spec: { restartPolicy: "Never" }, states: { web: process(ended(0)) }, want: "Succeeded" },
    { name: "Never, failed", spec: { restartPolicy: "Never" }, states: { web: process(ended(3)) }, want: "Failed" },
    { name: "OnFailure, failed", spec: { restartPolicy: "OnFailure" }, states: { web: process(ended(3)) }, want: "Running" },
    { name: "OnFailure, ended with 0", spec: { restartPolicy: "OnFailure" }, states: { web: process(ended(0)) }, want: "Succeeded" },
    { name: "an init container runs", spec: init, states: { first: running }, want: "Pending" },
    { name: "an init container failed", spec: init, states: { first: process(ended(1)) }, want: "Pending" },
    {
      name: "an init container failed, Never",
      spec: { ...init, restartPolicy: "Never" },
      states: { first: process(ended(1)) },
      want: "Failed",
    },
    { name: "an init container has ended", spec: init, states: { first: process(ended(0)), web: running }, want: "Running" },
    { name: "a sidecar runs", spec: sidecar, states: { side: running, web: running }, want: "Running" },
  ])("$name: $want", ({ spec, states, isFinal = false, want }) => {
    expect(statusOf(podOf(spec), states, { isFinal }).phase).toBe(want);
  });
});

describe("containers", () => {
  it("have an id for each start, which the last state keeps", () => {
    const first = statusOf(podOf(), { web: running }).containerStatuses?.[0];
    const waits = statusOf(podOf(), { web: waiting("CrashLoopBackOff", ended(1)) }).containerStatuses?.[0];
    const second = statusOf(podOf(), { web: { ...running, restarts: 1, last: ended(1) } }).containerStatuses?.[0];
    expect([waits?.containerID, waits?.lastState?.terminated?.containerID]).toEqual([first?.containerID, first?.containerID]);
    expect(second?.lastState?.terminated?.containerID).toBe(first?.containerID);
    expect(second?.containerID).not.toBe(first?.containerID);
  });

  it("keep a last state that the port no longer knows", () => {
    const written = statusOf(podOf(), { web: { ...running, restarts: 1, last: ended(4) } });
    const after = statusOf(podOf(), { web: { ...running, restarts: 1 } }, { written });
    expect(after.containerStatuses?.[0]?.lastState).toEqual(written.containerStatuses?.[0]?.lastState);
    expect(statusOf(podOf(), { web: running }, { written }).containerStatuses?.[0]?.lastState).toEqual({});
  });

  it("that never ran have no id, and the reason of a kubelet", () => {
    const state = statusOf(podOf(), { web: process(ended(0, 0)) }, { isFinal: true }).containerStatuses?.[0]?.state;
    expect(state).toEqual({
      terminated: {
        exitCode: 137,
        reason: "ContainerStatusUnknown",
        message: "The container could not be located when the pod was terminated",
      },
    });
  });

  it("that are ephemeral are listed and have no `started`; messages of waiting containers are kept", () => {
    const spec = { ephemeralContainers: [{ name: "debug", image: "d" }], initContainers: [{ name: "first", image: "i" }] };
    const pull = process({ kind: "waiting", reason: "ErrImagePull", message: "no such image" });
    const status = statusOf(podOf(spec), { web: pull, first: process(ended(0)) });
    expect(status.ephemeralContainerStatuses).toMatchObject([{ name: "debug", state: { waiting: { reason: "PodInitializing" } } }]);
    expect(status.ephemeralContainerStatuses?.[0]).not.toHaveProperty("started");
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "ErrImagePull", message: "no such image" } });
    expect(status.initContainerStatuses).toMatchObject([{ ready: true, started: false }]);
  });
});

describe("events", () => {
  const back = { web: waiting("CrashLoopBackOff", ended(1)) };
  it.each<{
    name: string;
    from: Record<string, ContainerProcess> | undefined;
    to: Record<string, ContainerProcess>;
    want: readonly string[];
  }>([
    { name: "a first start", from: undefined, to: { web: running }, want: ["Pulled", "Created", "Started"] },
    { name: "the same start", from: { web: running }, to: { web: { ...running, ready: false } }, want: [] },
    {
      name: "a restart that was not seen",
      from: { web: running },
      to: { web: { ...running, restarts: 2 } },
      want: ["Pulled", "Created", "Started"],
    },
    { name: "a back-off", from: { web: process(ended(1)) }, to: back, want: ["BackOff"] },
    { name: "the same back-off", from: back, to: back, want: [] },
    { name: "an end", from: { web: running }, to: { web: process(ended(1)) }, want: [] },
  ])("$name", ({ from, to, want }) => {
    const pod = podOf();
    expect(processNotes(pod, statusOf(pod, from), statusOf(pod, to)).map(({ reason }) => reason)).toEqual(want);
  });
});
