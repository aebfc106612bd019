import { expect, test } from "vitest";
import type { Deployment, WorkloadCondition } from "#kube";
import { isAvailable, rolloutOf, workloadsReady } from "./rollout.ts";

function deployment(status: Deployment["status"], spec: { readonly replicas?: number } = { replicas: 3 }): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", generation: 2 },
    spec: { selector: {}, template: { spec: { containers: [] } }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

const seen = { observedGeneration: 2 };
const late: WorkloadCondition = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" };
const refused: WorkloadCondition = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };

const rows = [
  { name: "no Deployment", given: undefined, want: "False RollingOut: the Deployment is not there yet" },
  { name: "no controller has observed it", given: deployment(undefined), want: "False RollingOut: the newest spec is not acted on yet" },
  {
    name: "only an older spec was observed",
    given: deployment({ observedGeneration: 1 }),
    want: "False RollingOut: the newest spec is not acted on yet",
  },
  { name: "no pod yet", given: deployment(seen), want: "False RollingOut: 0 of 3 pods are of the newest version" },
  {
    name: "some pods are new",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 1, availableReplicas: 3 }),
    want: "False RollingOut: 1 of 3 pods are of the newest version",
  },
  {
    name: "old pods are left",
    given: deployment({ ...seen, replicas: 4, updatedReplicas: 3, availableReplicas: 4 }),
    want: "False RollingOut: 1 pods of an older version are still there",
  },
  {
    name: "not all pods are ready",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 3, availableReplicas: 2 }),
    want: "False RollingOut: 2 of 3 pods are ready",
  },
  {
    name: "all pods are ready",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }),
    want: "True RolloutComplete: 3 of 3 pods are ready",
  },
  { name: "zero replicas", given: deployment(seen, { replicas: 0 }), want: "True RolloutComplete: 0 of 0 pods are ready" },
  {
    name: "one replica by default",
    given: deployment({ ...seen, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, {}),
    want: "True RolloutComplete: 1 of 1 pods are ready",
  },
  {
    name: "the deadline is exceeded",
    given: deployment({ ...seen, conditions: [late] }),
    want: "False ProgressDeadlineExceeded: timed out",
  },
  {
    name: "the deadline is exceeded, with a known pod problem",
    given: deployment({ ...seen, conditions: [late, refused] }),
    want: "False ProgressDeadlineExceeded: timed out; exceeded quota",
  },
  { name: "pods cannot be created", given: deployment({ ...seen, conditions: [refused] }), want: "False ReplicaFailure: exceeded quota" },
  {
    name: "pods cannot be created, without a message",
    given: deployment({ ...seen, conditions: [{ type: "ReplicaFailure", status: "True" }] }),
    want: "False ReplicaFailure: ",
  },
];

test.each(rows)("$name", ({ given, want }) => {
  const { status, reason, message } = workloadsReady(rolloutOf({ deployment: given, available: true }));
  expect(`${status} ${reason}: ${message}`).toBe(want);
});

const AVAILABLE: readonly WorkloadCondition[] = [{ type: "Available", status: "True" }];
const availability = [
  { name: "no Deployment", given: undefined, want: false },
  { name: "it has no status yet", given: deployment(undefined), want: false },
  { name: "it has enough pods", given: deployment({ availableReplicas: 2, conditions: AVAILABLE }), want: true },
  {
    name: "it has too few pods",
    given: deployment({ availableReplicas: 2, conditions: [{ type: "Available", status: "False" }] }),
    want: false,
  },
  { name: "all pods may be unavailable, and are", given: deployment({ conditions: AVAILABLE }), want: false },
  { name: "zero replicas", given: deployment({ conditions: AVAILABLE }, { replicas: 0 }), want: true },
  {
    name: "a newer spec is not observed yet",
    given: deployment({ observedGeneration: 1, availableReplicas: 3, conditions: AVAILABLE }),
    want: true,
  },
];
test.each(availability)("available: $name", ({ given, want }) => expect(isAvailable(given)).toBe(want));

test("a rollout is not complete while no pod serves", () => {
  const none = deployment({ ...seen, conditions: AVAILABLE }, { replicas: 0 });
  expect(rolloutOf({ deployment: none, available: false })).toMatchObject({
    done: false,
    reason: "RollingOut",
    message: "0 of 0 pods are ready, and the Deployment is not available",
  });
});

test("the exceeded deadline stays the reason if pods fail as well", () => {
  const problem = { reason: "PodsFailing", message: "1 pod cannot run" } as const;
  expect(rolloutOf({ deployment: deployment({ ...seen, conditions: [late] }), available: false, problem })).toMatchObject({
    stuck: true,
    reason: "ProgressDeadlineExceeded",
    message: "timed out; 1 pod cannot run",
  });
});
