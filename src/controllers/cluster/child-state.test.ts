import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  childCluster,
  COMPLETE_CAPI,
  CONNECTED,
  HOUR_MS,
  MINUTE_MS,
  NO_CAPI,
  NOON,
  observedChild,
  provisioningStatus,
} from "../../../test/builders/observed-child.ts";
import type { LatticeCluster } from "#crds";
import { childStateOf } from "./child-state.ts";
import { deadlineAt, PHASE_DEADLINES } from "./deadlines.ts";
import type { ObservedChild } from "./observed.ts";

const NOT_A_CELL = { reason: "NotACell" as const, message: "this cluster is no cell", terminal: false };
const INVALID = { reason: "InvalidSpec" as const, message: "spec.nodes: is required", terminal: true };
const deleted = (cluster: LatticeCluster): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, deletionTimestamp: "2026-01-01T11:00:00Z" },
});

type Row = {
  readonly name: string;
  readonly cluster?: LatticeCluster;
  readonly given: Partial<ObservedChild>;
  readonly want: { readonly phase: string; readonly reason: string; readonly message?: unknown; readonly complete?: boolean };
};

const rows: readonly Row[] = [
  {
    name: "a deleted cluster is Deleting, whatever else is wrong",
    cluster: deleted(childCluster()),
    given: { problem: INVALID },
    want: { phase: "Deleting", reason: "Deleting" },
  },
  { name: "an invalid spec fails at once", given: { problem: INVALID, capi: NO_CAPI }, want: { phase: "Failed", reason: "InvalidSpec" } },
  {
    name: "an invalid change of a running cluster leaves it where it is",
    given: { problem: INVALID },
    want: { phase: "Provisioning", reason: "InvalidSpec" },
  },
  {
    name: "a cluster on a leaf is Pending",
    given: { problem: NOT_A_CELL, capi: NO_CAPI },
    want: { phase: "Pending", reason: "NotACell" },
  },
  {
    name: "a cluster that waited for less than the deadline is still Pending",
    cluster: childCluster({}, provisioningStatus("False", "NotACell", NOON - HOUR_MS + 1_000)),
    given: { problem: NOT_A_CELL, capi: NO_CAPI },
    want: { phase: "Pending", reason: "NotACell" },
  },
  {
    name: "a cluster that waited too long has failed, and the message has the cause",
    cluster: childCluster({}, provisioningStatus("False", "NotACell", NOON - HOUR_MS)),
    given: { problem: NOT_A_CELL, capi: NO_CAPI },
    want: { phase: "Failed", reason: "PendingTimedOut", message: "waited too long: this cluster is no cell" },
  },
  {
    name: "once the cause is gone a cluster that waited too long is provisioned",
    cluster: childCluster({}, provisioningStatus("False", "PendingTimedOut", NOON - 10 * HOUR_MS)),
    given: { capi: NO_CAPI, agent: undefined },
    want: { phase: "Provisioning", reason: "Created" },
  },
  { name: "objects are created first", given: { capi: NO_CAPI, agent: undefined }, want: { phase: "Provisioning", reason: "Created" } },
  {
    name: "the infrastructure comes before the machines, with the provider's own message",
    given: {
      capi: { ...COMPLETE_CAPI, infrastructure: { available: false, message: "creating a NAT gateway" }, progressAt: NOON },
      agent: undefined,
    },
    want: { phase: "Provisioning", reason: "WaitingForInfrastructure", message: "waiting for the infrastructure: creating a NAT gateway" },
  },
  {
    name: "without machines the control plane is missing",
    given: { capi: { ...COMPLETE_CAPI, machines: 0, progressAt: undefined }, agent: undefined, access: undefined },
    want: { phase: "Provisioning", reason: "WaitingForControlPlane" },
  },
  {
    name: "a failed step that a node reported is in the message",
    given: {
      capi: { ...COMPLETE_CAPI, progressAt: NOON },
      agent: undefined,
      access: {
        spent: false,
        revoked: false,
        expiresAt: NOON,
        certificates: [],
        lastReport: { step: "apply", message: "connection refused", node: "prod-cp-1" },
      },
    },
    want: {
      phase: "Provisioning",
      reason: "WaitingForAgent",
      message: "machines exist; none has registered the cluster yet; node prod-cp-1 reported a failed step: apply: connection refused",
    },
  },
  {
    name: "a registered cluster waits for its agent",
    given: { capi: { ...COMPLETE_CAPI, progressAt: NOON }, agent: undefined },
    want: { phase: "Provisioning", reason: "WaitingForAgent", message: "the cluster has registered; its agent has not connected yet" },
  },
  {
    name: "with the agent, the control plane must be available",
    given: { capi: { ...COMPLETE_CAPI, controlPlane: undefined, progressAt: NOON } },
    want: { phase: "Provisioning", reason: "WaitingForControlPlane" },
  },
  {
    name: "and the workers",
    given: { capi: { ...COMPLETE_CAPI, workers: { available: false, message: "1 of 2" }, progressAt: NOON } },
    want: { phase: "Provisioning", reason: "WaitingForWorkers", message: "waiting for the workers: 1 of 2" },
  },
  {
    name: "a cluster without workers does not wait for them",
    cluster: childCluster({ nodes: { controlPlane: 1, workers: 0 } }),
    given: { capi: { ...COMPLETE_CAPI, workers: undefined } },
    want: { phase: "Pivoting", reason: "Pivoting", complete: false },
  },
  {
    name: "the objects of a complete child are moved to it",
    given: {},
    want: { phase: "Pivoting", reason: "Pivoting", complete: false },
  },
  {
    name: "machines without progress for too long have failed, by name",
    cluster: childCluster({}, provisioningStatus("True", "InProgress", NOON - 2 * HOUR_MS)),
    given: { agent: undefined, capi: { ...COMPLETE_CAPI, progressAt: NOON - 46 * MINUTE_MS, failedMachines: ["prod-cp-1"] } },
    want: {
      phase: "Failed",
      reason: "ProvisioningTimedOut",
      message: expect.stringContaining("failed: Machine prod-cp-1; change the spec"),
    },
  },
  {
    name: "progress of a machine extends the deadline",
    cluster: childCluster({}, provisioningStatus("True", "InProgress", NOON - 2 * HOUR_MS)),
    given: { agent: undefined, capi: { ...COMPLETE_CAPI, progressAt: NOON - 44 * MINUTE_MS } },
    want: { phase: "Provisioning", reason: "WaitingForAgent" },
  },
  {
    name: "progress without end does not",
    cluster: childCluster({}, provisioningStatus("True", "InProgress", NOON - 6 * HOUR_MS)),
    given: { agent: undefined, capi: { ...COMPLETE_CAPI, progressAt: NOON } },
    want: { phase: "Failed", reason: "ProvisioningTimedOut" },
  },
  {
    name: "a failed cluster stays failed",
    cluster: childCluster({}, provisioningStatus("False", "ProvisioningTimedOut", NOON - 1_000)),
    given: { agent: undefined },
    want: { phase: "Failed", reason: "ProvisioningTimedOut" },
  },
  {
    name: "a change of the spec starts another attempt",
    cluster: childCluster({}, provisioningStatus("False", "ProvisioningTimedOut", NOON - HOUR_MS, 0)),
    given: { agent: undefined },
    want: { phase: "Provisioning", reason: "WaitingForAgent" },
  },
  {
    name: "so does progress of a machine",
    cluster: childCluster({}, provisioningStatus("False", "ProvisioningTimedOut", NOON - HOUR_MS)),
    given: { agent: undefined, capi: { ...COMPLETE_CAPI, progressAt: NOON - 1_000 } },
    want: { phase: "Provisioning", reason: "WaitingForAgent" },
  },
  {
    name: "an agent that connects after the deadline is welcome",
    cluster: childCluster({}, provisioningStatus("False", "ProvisioningTimedOut", NOON - HOUR_MS)),
    given: { capi: { ...COMPLETE_CAPI, workers: undefined } },
    want: { phase: "Provisioning", reason: "WaitingForWorkers" },
  },
  {
    name: "a cluster that was complete meets no deadline when its agent is away",
    cluster: childCluster(
      {},
      { ...provisioningStatus("False", "Provisioned", NOON - 999 * HOUR_MS), agent: { connectedSince: "2026-01-01T00:00:00Z" } },
    ),
    given: { agent: { ...CONNECTED, connected: false, lastCloseReason: "no heartbeat for 90 s" } },
    want: { phase: "Provisioning", reason: "Disconnected", message: "the agent is not connected: no heartbeat for 90 s" },
  },
];

describe("the phase of a child", () => {
  test.each(rows)("$name", ({ cluster = childCluster(), given, want }) => {
    expect(childStateOf(cluster, observedChild(given))).toMatchObject(want);
  });

  test("a deadline is later with progress, and never later than the limit", () => {
    const times = fc.record({ since: fc.nat(), progress: fc.option(fc.nat(), { nil: undefined }) });
    fc.assert(
      fc.property(times, ({ since, progress }) => {
        for (const deadline of Object.values(PHASE_DEADLINES)) {
          const without = deadlineAt(deadline, { since });
          const at = deadlineAt(deadline, { since, progressAt: progress });
          expect(at).toBeGreaterThanOrEqual(without);
          expect(at).toBeLessThanOrEqual(since + deadline.limitMs);
        }
      }),
    );
  });
});
