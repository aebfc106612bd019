/** Children before, in and after their pivot, for tables. */
import type { LatticeCluster, LatticeClusterStatus } from "#crds";
import { childCluster, CONNECTED, HOUR_MS, NOON, timeOf } from "../../../test/builders/observed-child.ts";
import type { PivotProblem, PivotView } from "./ports.ts";
import { MIRROR_ANNOTATION, specDigest } from "./spec-mirror.ts";

export const RUNNING: PivotView = {
  direction: "to-child",
  state: "running",
  step: "transfer",
  moved: 3,
  total: 9,
  startedAt: NOON - 5_000,
  progressAt: NOON,
};
export const failedWith = (kind: PivotProblem["kind"], message = "because"): PivotView => ({
  ...RUNNING,
  state: "waiting",
  problem: { kind, message },
  retryAt: NOON + 7_000,
});
export const BACK: PivotView = { ...RUNNING, direction: "to-parent" };
export const AWAY = { ...CONNECTED, connected: false, lastCloseReason: "connection reset" };
export const deleted = (cluster: LatticeCluster): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, deletionTimestamp: timeOf(NOON - HOUR_MS) },
});
export const annotated = (cluster: LatticeCluster, annotations: Readonly<Record<string, string>>): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, annotations },
});
const condition = (type: string, status: "True" | "False", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: timeOf(NOON),
});
export const selfStatus: LatticeClusterStatus = {
  phase: "Ready",
  ownedBy: "self",
  conditions: [
    condition("Ready", "True", "SelfManaged"),
    condition("AgentConnected", "True", "Connected"),
    condition("Provisioning", "False", "Provisioned"),
  ],
};
export const MIRRORED = (() => {
  const cluster = childCluster({}, selfStatus);
  return annotated(cluster, { [MIRROR_ANNOTATION]: specDigest(cluster) });
})();
export const STARTING = {
  problem: { reason: "CellStarting" as const, message: "starting", terminal: false },
  cell: undefined,
  agent: undefined,
};
