/**
 * The children of a cell that has run for long, as objects: what the operator writes for each child until it is complete. The bench then starts an
 * operator that finds them, because their provisioning would take most of its time.
 */
import { randomBytes } from "node:crypto";
import { expectOk, reveal, type Sensitive } from "#base";
import { stamp, type WantedObject } from "#controller-runtime";
import { bootstrapSecret, compileChild, kubeconfigSecret, type CellView } from "#controllers";
import { parseLatticeCluster } from "#crds";
import { accessSecret, createToken, csrTokenOf, hashOfToken, newAccess } from "#http";
import type { KubeObject } from "#kube";
import { HOME, localCluster } from "../../test/builders/cell-world.ts";

export type SeededChild = {
  readonly csrToken: string;
  /** Stored as they are. */
  readonly objects: readonly KubeObject[];
  /** Of Cluster API, as the operator applies them, with the status that Cluster API gives them. */
  readonly applied: readonly KubeObject[];
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
  const place = { name, namespace, cell };
  const compiled = expectOk(compileChild(expectOk(parseLatticeCluster(raw)), { cell, controlPlane: undefined }));
  const owner = { controller: "cluster", object: raw, ownerReferences: "none" } as const;
  return {
    csrToken: reveal(csrToken),
    objects: [
      { ...raw, status: statusOf(now) } as KubeObject,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, annotations: { "lattice.dev/cluster": name } } },
      accessSecret(newAccess(name, hashesOf({ bootstrap, csrToken, proxy }), { now, expiresAt: now + HOUR_MS }), HOME),
      bootstrapSecret(place, bootstrap),
      kubeconfigSecret(place, proxy),
    ],
    applied: [...compiled.first, ...compiled.rest].map((wanted) => withStatus(stamp(plain(wanted), owner), now)),
  };
}

type Tokens = { readonly bootstrap: Sensitive<string>; readonly csrToken: Sensitive<string>; readonly proxy: Sensitive<string> };

function hashesOf({ bootstrap, csrToken, proxy }: Tokens) {
  return { bootstrapHash: hashOfToken(bootstrap), csrHash: hashOfToken(csrToken), proxyHash: hashOfToken(proxy) };
}

function plain(wanted: WantedObject): KubeObject {
  return "once" in wanted ? wanted.object : wanted;
}

/** What Cluster API reports about machines that run. */
function withStatus(object: KubeObject, now: number): KubeObject {
  const available = (type: string) => conditionOf(type, "Available", now);
  if (object.kind === "Cluster") {
    const conditions = ["InfrastructureReady", "ControlPlaneAvailable"].map(available);
    return { ...object, status: { conditions, phase: "Provisioned" } } as KubeObject;
  }
  if (object.kind !== "KubeadmControlPlane") return object;
  return { ...object, status: { version: KUBERNETES_VERSION, replicas: 1, readyReplicas: 1 } } as KubeObject;
}

function statusOf(now: number) {
  const heartbeat = new Date(now - Math.random() * OLDEST_HEARTBEAT_MS);
  const lastHeartbeat = `${heartbeat.toISOString().slice(0, -5)}Z`;
  return {
    phase: "Provisioning",
    agent: { state: "Ready", connectedSince: lastHeartbeat, lastHeartbeat },
    conditions: [
      conditionOf("AgentConnected", "Connected", now),
      { ...conditionOf("Provisioning", "Provisioned", now), status: "False" },
      { ...conditionOf("Ready", "PivotNotBuilt", now), status: "False" },
    ],
  };
}

function conditionOf(type: string, reason: string, now: number) {
  return { type, status: "True", reason, message: "", lastTransitionTime: new Date(now).toISOString() };
}

/**
 * Copies of what an API server has of the first child: the operator compares fields and field managers with what it compiles, and an apply for each
 * object would take minutes.
 */
export function asApplied(
  wanted: readonly KubeObject[],
  first: { readonly name: string; readonly objects: readonly KubeObject[] },
  name: string,
) {
  return wanted.map((one, at): KubeObject => {
    const live = JSON.parse(JSON.stringify(first.objects[at]).replaceAll(first.name, name)) as KubeObject;
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...metadata } = live.metadata;
    const { labels, annotations } = one.metadata;
    return { ...live, metadata: { ...metadata, labels, annotations } as KubeObject["metadata"] };
  });
}
