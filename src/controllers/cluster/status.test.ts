import { describe, expect, test } from "vitest";
import { waiting } from "#controller-runtime";
import type { LatticeCluster, LatticeClusterStatus } from "#crds";
import type { NewCondition } from "#kube";
import {
  CELL_VIEW,
  childCluster,
  COMPLETE_CAPI,
  CONNECTED,
  HOUR_MS,
  NO_CAPI,
  NOON,
  observedChild,
  provisioningStatus,
  timeOf,
} from "../../../test/builders/observed-child.ts";
import { agentStatusOf, HEARTBEAT_WRITTEN_EVERY_MS, visibleAgent } from "./agent-status.ts";
import { childStateOf } from "./child-state.ts";
import { certificatesValid } from "./conditions.ts";
import type { ObservedChild } from "./observed.ts";
import { statusOfCluster } from "./status.ts";

const outcome = waiting("Pivoting", 1, "objects are moved");
const statusOf = (cluster: LatticeCluster, given: Partial<ObservedChild>) => statusOfCluster(cluster, observedChild(given), { outcome });
const conditionOf = (status: { readonly conditions?: readonly NewCondition[] }, type: string) => {
  const found = status.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};
const conditionsOf = (status: { readonly conditions?: readonly NewCondition[] }) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]));

describe("the status of a child", () => {
  test("has every field once the child is complete", () => {
    const status = statusOf(childCluster(), {});
    expect({ ...status, conditions: undefined }).toEqual({
      conditions: undefined,
      phase: "Pivoting",
      message: "objects are moved",
      agent: {
        state: "ready",
        version: "1.2.3",
        protocol: "1",
        connectedSince: timeOf(NOON - HOUR_MS),
        lastHeartbeat: timeOf(NOON - 20_000),
      },
      kubernetesVersion: "v1.36.3",
      readyNodes: 3,
      totalNodes: 3,
      pools: { default: { desired: 2, ready: 2 } },
      endpoint: "127.0.0.9:6443",
      ownedBy: "mgmt",
    });
    expect(conditionsOf(status)).toEqual({
      Accepted: "True Valid",
      Provisioning: "False Provisioned",
      InfrastructureReady: "True Available",
      ControlPlaneAvailable: "True Available",
      WorkersAvailable: "True Available",
      AgentConnected: "True Connected",
      CertificatesValid: "True CertificateValid",
      Pivoting: "True Pivoting",
      SpecIgnored: "False SpecApplied",
    });
  });

  test("counts machines until the agent reports nodes, and lists pools that are gone from the spec while they exist", () => {
    const capi = {
      ...COMPLETE_CAPI,
      runningMachines: 1,
      pools: new Map([
        ["old", { desired: 0, ready: 1 }],
        ["default", { desired: 2, ready: 0 }],
      ]),
    };
    const cluster = childCluster({ nodes: { controlPlane: 1, workers: 2, workerPools: { batch: { min: 3, max: 9 } } } });
    expect(statusOf(cluster, { agent: undefined, access: undefined, capi })).toMatchObject({
      readyNodes: 1,
      totalNodes: 3,
      kubernetesVersion: "v1.36.3",
      pools: { default: { desired: 2, ready: 0 }, batch: { desired: 3, ready: 0 }, old: { desired: 0, ready: 1 } },
    });
  });

  test("before its objects exist has no machines, no owner and no agent", () => {
    const status = statusOf(childCluster(), { agent: undefined, access: undefined, capi: NO_CAPI });
    expect(Object.keys(status)).toEqual(["phase", "message", "conditions"]);
    expect(conditionsOf(status)).toEqual({ Accepted: "True Valid", Provisioning: "True Created", SpecIgnored: "False SpecApplied" });
  });

  test("of an invalid spec keeps what was written about the cluster", () => {
    const errors = [{ path: "spec.nodes", message: "is required", kind: "required" as const }];
    const problem = { reason: "InvalidSpec" as const, message: "spec.nodes: is required", terminal: true };
    const status = statusOf(childCluster(), { errors, problem });
    expect(status).toMatchObject({ phase: "Provisioning", message: "spec.nodes: is required" });
    expect(conditionsOf(status)).toEqual({ Accepted: "False InvalidSpec" });
  });

  test("remembers that a child was complete when something breaks later", () => {
    const cluster = childCluster({}, provisioningStatus("False", "Provisioned", NOON - HOUR_MS));
    const broken = { ...COMPLETE_CAPI, workers: { available: false, message: "0 of 2" } };
    const status = statusOf(cluster, { capi: broken, agent: { ...CONNECTED, connected: false, lastCloseReason: "connection reset" } });
    expect(conditionsOf(status)).toMatchObject({
      Provisioning: "False Provisioned",
      WorkersAvailable: "False WaitingForWorkers",
      AgentConnected: "False Disconnected",
    });
  });

  test("keeps the agent's condition while the cell's link is new", () => {
    const condition = {
      type: "AgentConnected",
      status: "True",
      reason: "Connected",
      message: "x",
      lastTransitionTime: timeOf(NOON),
    } as const;
    const cluster = childCluster({}, { conditions: [condition], agent: { state: "ready", connectedSince: timeOf(NOON) } });
    expect(conditionOf(statusOf(cluster, { agent: undefined, linkIsNew: true }), "AgentConnected")).toBe("True Connected");
    expect(conditionOf(statusOf(cluster, { agent: undefined, linkIsNew: false }), "AgentConnected")).toBe("False Disconnected");
    const closed = { ...CONNECTED, connected: false, lastCloseReason: "the agent ended the stream" };
    expect(conditionOf(statusOf(cluster, { agent: closed, linkIsNew: true }), "AgentConnected")).toBe("False Disconnected");
    expect(statusOf(cluster, { agent: undefined, linkIsNew: true })).not.toHaveProperty("agent");
  });

  test("is not changed by a start of the cell", () => {
    const ready = { type: "Ready", status: "False", reason: "Pivoting", message: "m", lastTransitionTime: timeOf(NOON) } as const;
    const connected = { ...ready, type: "AgentConnected", status: "True", reason: "Connected" } as const;
    const provisioned = { ...ready, type: "Provisioning", reason: "Provisioned" } as const;
    const cluster = childCluster({}, { conditions: [ready, connected, provisioned] });
    const starting = { reason: "CellStarting" as const, message: "starting", terminal: false };
    expect(statusOf(cluster, { problem: starting, cell: undefined, agent: undefined, linkIsNew: true })).toEqual({ conditions: [ready] });
    const back = statusOf(cluster, { agent: undefined, linkIsNew: true });
    expect(conditionsOf(back)).toMatchObject({ AgentConnected: "True Connected", Provisioning: "False Provisioned" });
    expect(childStateOf(cluster, observedChild({ agent: undefined, linkIsNew: true }))).toMatchObject({ reason: "Pivoting" });
    expect(childStateOf(cluster, observedChild({ agent: undefined, linkIsNew: false }))).toMatchObject({ complete: false });
  });

  test("shows the message of a failed pass", () => {
    const failed = { kind: "failed", cause: { kind: "forbidden", message: "clusters is forbidden" } } as const;
    expect(statusOfCluster(childCluster(), observedChild(), { outcome: failed })).toMatchObject({ message: "clusters is forbidden" });
  });
});

describe("the time of the last heartbeat", () => {
  const written = (ms: number) => ({ lastHeartbeat: timeOf(ms) });

  test.each([
    { name: "is written when there is none", before: undefined, want: NOON },
    {
      name: "is not written again soon",
      before: NOON - HEARTBEAT_WRITTEN_EVERY_MS + 1_000,
      want: NOON - HEARTBEAT_WRITTEN_EVERY_MS + 1_000,
    },
    { name: "is written after five minutes", before: NOON - HEARTBEAT_WRITTEN_EVERY_MS, want: NOON },
  ])("$name", ({ before, want }) => {
    const status = agentStatusOf({ ...CONNECTED, lastHeartbeat: NOON }, before === undefined ? undefined : written(before));
    expect(status.lastHeartbeat).toBe(timeOf(want));
  });

  test("does not make a view another one, and everything else does", () => {
    expect(visibleAgent({ ...CONNECTED, lastHeartbeat: NOON })).toBe(visibleAgent(CONNECTED));
    expect(visibleAgent({ ...CONNECTED, connected: false })).not.toBe(visibleAgent(CONNECTED));
    expect(visibleAgent({ ...CONNECTED, health: { readyNodes: 2, totalNodes: 3, kubernetesVersion: "" } })).not.toBe(
      visibleAgent(CONNECTED),
    );
  });

  test("an agent that is away keeps what was known of it", () => {
    const before: NonNullable<LatticeClusterStatus["agent"]> = { connectedSince: timeOf(NOON), lastHeartbeat: timeOf(NOON) };
    const away = { ...CONNECTED, connected: false, connectedSince: undefined, lastHeartbeat: undefined, agentVersion: "", protocol: 0 };
    expect(agentStatusOf({ ...away, state: "unknown" }, before)).toEqual({ ...before, state: "unknown" });
  });
});

describe("CertificatesValid", () => {
  const access = { spent: true, revoked: false, expiresAt: 0, certificates: [{ serial: "1", notAfter: NOON }] };

  test.each([
    { name: "unknown without a certificate", given: { ...access, certificates: [] }, now: NOON, want: "Unknown NoCertificate" },
    { name: "true with a month left", given: access, now: NOON - 29 * 24 * HOUR_MS, want: "True CertificateValid" },
    { name: "expiring with five days left", given: access, now: NOON - 5 * 24 * HOUR_MS, want: "True CertificateExpiring" },
    {
      name: "false after its expiry",
      given: access,
      now: NOON,
      want: "False CertificateExpired",
      text: "the agent renews it when it returns",
    },
    {
      name: "false when it can no longer be renewed",
      given: access,
      now: NOON + 90 * 24 * HOUR_MS,
      want: "False CertificateExpired",
      text: "can no longer renew it; for a new one, run: lattice reparent prod --kubeconfig <kubeconfig of prod> --to <kubeconfig of mgmt>",
    },
    { name: "false when revoked", given: { ...access, revoked: true }, now: 0, want: "False CertificateRevoked" },
  ])("is $name", ({ given, now, want, text = "" }) => {
    const { status, reason, message } = certificatesValid(given, { now, name: "prod", cell: CELL_VIEW });
    expect(`${status} ${reason}`).toBe(want);
    expect(message).toContain(text);
  });
});
