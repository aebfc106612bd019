import { expect, test } from "vitest";
import type { DeploymentObject } from "../kinds.ts";
import { rolloutOf, workloadsReady } from "./rollout.ts";

function deployment(status: DeploymentObject["status"], spec: DeploymentObject["spec"] = { replicas: 3 }): DeploymentObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", generation: 2 },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

const seen = { observedGeneration: 2 };
const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" };
const refused = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };

const rows = [
  { name: "there is none", given: undefined, want: "False RollingOut: the Deployment is not there yet" },
  { name: "nobody has looked", given: deployment(undefined), want: "False RollingOut: the newest spec is not acted on yet" },
  {
    name: "an older spec was acted on",
    given: deployment({ observedGeneration: 1 }),
    want: "False RollingOut: the newest spec is not acted on yet",
  },
  { name: "no pod yet", given: deployment(seen), want: "False RollingOut: 0 of 3 pods are of the newest version" },
  {
    name: "some are new",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 1, availableReplicas: 3 }),
    want: "False RollingOut: 1 of 3 pods are of the newest version",
  },
  {
    name: "old ones are still there",
    given: deployment({ ...seen, replicas: 4, updatedReplicas: 3, availableReplicas: 4 }),
    want: "False RollingOut: 1 pods of an older version are still there",
  },
  {
    name: "not all are ready",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 3, availableReplicas: 2 }),
    want: "False RollingOut: 2 of 3 pods are ready",
  },
  {
    name: "all are ready",
    given: deployment({ ...seen, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }),
    want: "True RolloutComplete: 3 of 3 pods are ready",
  },
  { name: "none is wanted", given: deployment(seen, { replicas: 0 }), want: "True RolloutComplete: 0 of 0 pods are ready" },
  {
    name: "one is wanted when nothing is said",
    given: deployment({ ...seen, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, {}),
    want: "True RolloutComplete: 1 of 1 pods are ready",
  },
  { name: "it takes too long", given: deployment({ ...seen, conditions: [late] }), want: "False ProgressDeadlineExceeded: timed out" },
  {
    name: "it takes too long, and why is known",
    given: deployment({ ...seen, conditions: [late, refused] }),
    want: "False ProgressDeadlineExceeded: timed out; exceeded quota",
  },
  { name: "pods cannot be made", given: deployment({ ...seen, conditions: [refused] }), want: "False ReplicaFailure: exceeded quota" },
  {
    name: "pods cannot be made, and nobody says why",
    given: deployment({ ...seen, conditions: [{ type: "ReplicaFailure", status: "True" }] }),
    want: "False ReplicaFailure: ",
  },
];

test.each(rows)("$name", ({ given, want }) => {
  const { status, reason, message } = workloadsReady(rolloutOf(given));
  expect(`${status} ${reason}: ${message}`).toBe(want);
});
