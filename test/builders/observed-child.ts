/** Observations of a child cluster, for tables: an incomplete child that a test varies. */
import { expectOk } from "#base";
import type { CapiView, ChildAgent, ObservedChild } from "#controllers";
import { parseLatticeCluster, type LatticeCluster, type LatticeClusterStatus } from "#crds";
import { rawCluster } from "./valid-resources.ts";

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;
/** 2026-01-01T12:00:00Z. */
export const NOON = Date.UTC(2026, 0, 1, 12);

export const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, -5)}Z`;

export function childCluster(spec: Readonly<Record<string, unknown>> = {}, status?: LatticeClusterStatus): LatticeCluster {
  const parsed = expectOk(parseLatticeCluster(rawCluster({ cellRef: "mgmt", ...spec }, "prod")));
  const metadata = { ...parsed.metadata, generation: 1 };
  return status === undefined ? { ...parsed, metadata } : { ...parsed, metadata, status };
}

const AVAILABLE = { available: true, message: "" };

export const NO_CAPI: CapiView = {
  exists: false,
  endpoint: undefined,
  infrastructure: undefined,
  controlPlane: undefined,
  workers: undefined,
  kubernetesVersion: undefined,
  controlPlanePool: undefined,
  pools: new Map(),
  machines: 0,
  runningMachines: 0,
  failedMachines: [],
  progressAt: undefined,
};

/** All machines run. */
export const COMPLETE_CAPI: CapiView = {
  ...NO_CAPI,
  exists: true,
  endpoint: "127.0.0.9:6443",
  infrastructure: AVAILABLE,
  controlPlane: AVAILABLE,
  workers: AVAILABLE,
  kubernetesVersion: "v1.36.3",
  controlPlanePool: { desired: 1, ready: 1 },
  pools: new Map([["default", { desired: 2, ready: 2 }]]),
  machines: 3,
  runningMachines: 3,
  progressAt: NOON - HOUR_MS,
};

export const CONNECTED: ChildAgent = {
  connected: true,
  state: "ready",
  agentVersion: "1.2.3",
  protocol: 1,
  kubernetesVersion: "v1.36.3",
  connectedSince: NOON - HOUR_MS,
  lastHeartbeat: NOON - 20_000,
  health: { readyNodes: 3, totalNodes: 3, kubernetesVersion: "v1.36.3" },
  bootstrapComplete: true,
};

export const CELL_VIEW = { name: "mgmt", host: "127.0.0.1", grpcPort: 50_051, bootstrapPort: 8_443, proxyPort: 8_444, trustBundle: "CA" };

/** It owns itself, and its agent reports it. */
export const SELF_OWNED = {
  ownership: "child",
  capi: NO_CAPI,
  objects: undefined,
  agent: {
    ...CONNECTED,
    health: { readyNodes: 3, totalNodes: 3, kubernetesVersion: "v1.36.3", ownershipEpoch: 1, specDigest: "a".repeat(64) },
  },
} as const satisfies Partial<ObservedChild>;

/** Complete and connected. */
export function observedChild(change: Partial<ObservedChild> = {}): ObservedChild {
  return {
    kind: "child",
    now: NOON,
    cluster: childCluster(),
    cell: CELL_VIEW,
    problem: undefined,
    errors: [],
    objects: { namespace: "capi-prod", first: [], rest: [], usedTemplates: new Set() },
    access: { spent: true, revoked: false, expiresAt: NOON, certificates: [{ serial: "1", notAfter: NOON + 29 * 24 * HOUR_MS }] },
    hasNamespace: true,
    hasToken: true,
    hasKubeconfig: true,
    capi: COMPLETE_CAPI,
    agent: CONNECTED,
    ownership: "parent",
    pivot: undefined,
    linkIsNew: false,
    ...change,
  };
}

/** A status with the condition Provisioning, as an earlier pass wrote it. */
export function provisioningStatus(status: "True" | "False", reason: string, sinceMs: number, generation = 1): LatticeClusterStatus {
  const condition = {
    type: "Provisioning",
    status,
    reason,
    message: "",
    lastTransitionTime: timeOf(sinceMs),
    observedGeneration: generation,
  };
  return { conditions: [condition] };
}
