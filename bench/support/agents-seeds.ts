/**
 * The children of a cell that has run for long, as objects: what the operator has about each child that owns itself. The bench then starts an
 * operator that finds them, because their provisioning would take most of its time.
 */
import { randomBytes } from "node:crypto";
import { reveal, type Sensitive } from "#base";
import type { CellView } from "#controllers";
import { accessSecret, createToken, csrTokenOf, hashOfToken, newAccess } from "#http";
import type { KubeObject } from "#kube";
import { HOME, localCluster } from "../../test/builders/cell-world.ts";

export type SeededChild = {
  readonly csrToken: string;
  /** Stored as they are. */
  readonly objects: readonly KubeObject[];
};

const HOUR_MS = 3_600_000;
/** In a running cell the last heartbeats that were written are of different times. */
const OLDEST_HEARTBEAT_MS = 300_000;
export const KUBERNETES_VERSION = "v1.36.3";

export function seededChild(name: string, cell: CellView, now: number): SeededChild {
  const raw = localCluster(name, { cellRef: cell.name, nodes: { controlPlane: 1, workers: 0 } }) as KubeObject;
  const [bootstrap, proxy] = [createToken(name, randomBytes), createToken(name, randomBytes)];
  const csrToken = csrTokenOf(name, bootstrap);
  const namespace = `capi-${name}`;
  return {
    csrToken: reveal(csrToken),
    objects: [
      { ...raw, status: statusOf(now) } as KubeObject,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, annotations: { "lattice.dev/cluster": name } } },
      accessSecret({ ...newAccess(name, hashesOf({ bootstrap, csrToken, proxy }), { now, expiresAt: now + HOUR_MS }), spent: true }, HOME),
    ],
  };
}

type Tokens = { readonly bootstrap: Sensitive<string>; readonly csrToken: Sensitive<string>; readonly proxy: Sensitive<string> };

function hashesOf({ bootstrap, csrToken, proxy }: Tokens) {
  return { bootstrapHash: hashOfToken(bootstrap), csrHash: hashOfToken(csrToken), proxyHash: hashOfToken(proxy) };
}

function statusOf(now: number) {
  const heartbeat = new Date(now - Math.random() * OLDEST_HEARTBEAT_MS);
  const lastHeartbeat = `${heartbeat.toISOString().slice(0, -5)}Z`;
  return {
    phase: "Ready",
    ownedBy: "self",
    agent: { state: "Ready", connectedSince: lastHeartbeat, lastHeartbeat },
    conditions: [
      conditionOf("AgentConnected", "Connected", now),
      { ...conditionOf("Provisioning", "Provisioned", now), status: "False" },
      conditionOf("Ready", "SelfManaged", now),
      { ...conditionOf("Pivoting", "Pivoted", now), status: "False" },
    ],
  };
}

function conditionOf(type: string, reason: string, now: number) {
  return { type, status: "True", reason, message: "", lastTransitionTime: new Date(now).toISOString() };
}
