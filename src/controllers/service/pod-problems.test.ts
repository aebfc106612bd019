import { expect, test } from "vitest";
import type { ContainerStatus, Pod } from "#kube";
import { podProblem } from "./pod-problems.ts";

function pod(status: Pod["status"], more: object = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "shop", ...more },
    spec: { containers: [] },
    ...(status === undefined ? {} : { status }),
  };
}
const status = { name: "main", image: "app:1", imageID: "", ready: false, restartCount: 0 };
const container = (more: Partial<ContainerStatus>): Pod => pod({ containerStatuses: [{ ...status, ...more }] });
const waitingFor = (reason: string, message?: string) =>
  container({ state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } });
const unscheduled = (message?: string) =>
  pod({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", ...(message === undefined ? {} : { message }) }] });
const ended = { terminated: { exitCode: 137 } };

const rows = [
  { name: "no pods", given: [], want: undefined },
  { name: "starting pods", given: [pod(undefined), waitingFor("ContainerCreating"), waitingFor("PodInitializing")], want: undefined },
  { name: "a pod that is not ready", given: [container({ ready: false, state: {} })], want: undefined },
  {
    name: "a terminating pod",
    given: [pod(unscheduled("0/1").status, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    want: undefined,
  },
  {
    name: "unschedulable",
    given: [unscheduled("0/1 nodes are available: 1 Insufficient cpu.")],
    want: "Unschedulable: 1 pod cannot be scheduled: 0/1 nodes are available: 1 Insufficient cpu.",
  },
  { name: "unschedulable, without a message", given: [unscheduled()], want: "Unschedulable: 1 pod cannot be scheduled: no node fits" },
  {
    name: "an image that cannot be pulled",
    given: [waitingFor("ErrImagePull", "token abc"), waitingFor("ImagePullBackOff")],
    want: "PodsFailing: 2 pods cannot run: container main: the image app:1 cannot be pulled",
  },
  {
    name: "a crash loop, container waiting",
    given: [container({ restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ended })],
    want: "PodsFailing: 1 pod cannot run: container main ends with exit code 137 and is started again",
  },
  {
    name: "a crash loop, container running",
    given: [container({ restartCount: 4, state: {}, lastState: ended })],
    want: "PodsFailing: 1 pod cannot run: container main ends with exit code 137 and is started again",
  },
  { name: "a container that recovered", given: [container({ restartCount: 4, ready: true, lastState: ended })], want: undefined },
  {
    name: "a missing Secret",
    given: [waitingFor("CreateContainerConfigError", 'secret "db" not found')],
    want: 'PodsFailing: 1 pod cannot run: container main: secret "db" not found',
  },
  {
    name: "another reason, without its message",
    given: [waitingFor("RunContainerError", "--password=x")],
    want: "PodsFailing: 1 pod cannot run: container main: RunContainerError",
  },
  {
    name: "a failing init container",
    given: [
      pod({ initContainerStatuses: [{ ...status, name: "setup", image: "b:1", state: { waiting: { reason: "InvalidImageName" } } }] }),
    ],
    want: "PodsFailing: 1 pod cannot run: container setup: the image b:1 cannot be pulled",
  },
  {
    name: "the most frequent problem wins",
    given: [unscheduled("0/1"), waitingFor("ErrImagePull"), waitingFor("ErrImagePull")],
    want: "PodsFailing: 2 pods cannot run: container main: the image app:1 cannot be pulled",
  },
  {
    name: "the choice between equally frequent problems is stable",
    given: [waitingFor("ErrImagePull"), unscheduled("0/1")],
    want: "Unschedulable: 1 pod cannot be scheduled: 0/1",
  },
];

test.each(rows)("$name", ({ given, want }) => {
  const problem = podProblem(given);
  expect(problem === undefined ? undefined : `${problem.reason}: ${problem.message}`).toBe(want);
});
