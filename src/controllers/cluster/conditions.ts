/** The conditions of a child beside Ready. Pure. */
import type { LatticeCluster } from "#crds";
import { findCondition, type NewCondition } from "#kube";
import { newCertificateHelp } from "./adoption.ts";
import { timeText } from "./agent-status.ts";
import type { CapiReport, CapiView } from "./capi-view.ts";
import { wasProvisioned, type ChildState } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { declaredPools } from "./pools.ts";
import { pivotingCondition, specIgnoredCondition } from "./pivot-status.ts";
import type { ChildAccess } from "./ports.ts";
import type { ClusterReason } from "./reasons.ts";

const DAY_MS = 86_400_000;
/** An agent renews at two thirds of 30 days: one that has less than this left has tried for days. */
const EXPIRES_SOON_MS = 6 * DAY_MS;
/** How long after its expiry an agent may renew its certificate itself. */
const RENEWABLE_AFTER_EXPIRY_MS = 90 * DAY_MS;

export function childConditions(cluster: LatticeCluster, observed: ObservedChild, state: ChildState): readonly NewCondition[] {
  return [
    provisioning(cluster, observed, state),
    ...childCapiConditions(cluster, observed),
    ...agentConnected(cluster, observed),
    ...(observed.access === undefined ? [] : [certificatesValid(observed.access, { ...observed, name: cluster.metadata.name })]),
    ...pivotingCondition(cluster, observed, state),
    specIgnoredCondition(cluster, observed),
  ];
}

function provisioning(cluster: LatticeCluster, { ownership }: ObservedChild, { phase, reason, message }: ChildState): NewCondition {
  const done = "all machines ran and the agent was connected";
  if (ownership !== "parent" || phase === "Pivoting" || wasProvisioned(cluster))
    return condition("Provisioning", "False", "Provisioned", done);
  if (phase === "Provisioning") return condition("Provisioning", "True", reason === "Created" ? "Created" : "InProgress", message);
  return condition("Provisioning", "False", reason, message);
}

/** A cluster that owns itself reports on them in its own resource. */
function childCapiConditions(cluster: LatticeCluster, { capi, ownership }: ObservedChild): readonly NewCondition[] {
  if (ownership === "child") {
    const message = "the cluster owns itself; its own LatticeCluster has this condition";
    return ["InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"].map((type) =>
      condition(type, "Unknown", "Pivoted", message),
    );
  }
  return capi.exists ? capiConditions(cluster, capi) : [];
}

export function capiConditions({ spec }: LatticeCluster, capi: CapiView): readonly NewCondition[] {
  const hasWorkers = [...declaredPools(spec).values()].some((count) => count > 0);
  return [
    reported("InfrastructureReady", capi.infrastructure, "WaitingForInfrastructure"),
    reported("ControlPlaneAvailable", capi.controlPlane, "WaitingForControlPlane"),
    hasWorkers
      ? reported("WorkersAvailable", capi.workers, "WaitingForWorkers")
      : condition("WorkersAvailable", "True", "NoWorkers", "the spec declares no workers"),
  ];
}

function reported(type: string, report: CapiReport, missing: ClusterReason): NewCondition {
  if (report === undefined) return condition(type, "Unknown", "NotReported", "Cluster API has not reported on it yet");
  return report.available ? condition(type, "True", "Available", report.message) : condition(type, "False", missing, report.message);
}

/** While the link is new, an agent that is missing may be on its way: what was written stays. */
function agentConnected({ status }: LatticeCluster, { agent, capi, linkIsNew }: ObservedChild): readonly NewCondition[] {
  const type = "AgentConnected";
  const written = findCondition(status?.conditions, type);
  if (agent?.connected === true) return [condition(type, "True", "Connected", `the agent is ${agent.state}`)];
  if (agent === undefined && linkIsNew && written !== undefined) return [written];
  const closed = agent?.lastCloseReason ?? status?.agent?.lastCloseReason;
  if (status?.agent?.connectedSince !== undefined || closed !== undefined)
    return [condition(type, "False", "Disconnected", `the last connection ended${closed === undefined ? "" : `: ${closed}`}`)];
  return capi.exists ? [condition(type, "False", "WaitingForAgent", "the agent has not connected yet")] : [];
}

type CertificateContext = Pick<ObservedChild, "now" | "cell"> & {
  /** Of the child. */
  readonly name: string;
};

export function certificatesValid({ certificates, revoked }: ChildAccess, { now, name, cell }: CertificateContext): NewCondition {
  const type = "CertificatesValid";
  const last = certificates.at(-1);
  if (revoked) return condition(type, "False", "CertificateRevoked", "the access of the cluster was revoked");
  if (last === undefined) return condition(type, "Unknown", "NoCertificate", "no certificate was signed for the agent yet");
  const expires = timeText(last.notAfter);
  if (now >= last.notAfter) {
    const until = last.notAfter + RENEWABLE_AFTER_EXPIRY_MS;
    const renewal =
      now < until
        ? `until ${timeText(until)} the agent renews it when it returns`
        : `since ${timeText(until)} the agent can no longer renew it; ${newCertificateHelp(name, cell?.name ?? "this cell")}`;
    return condition(type, "False", "CertificateExpired", `the certificate expired at ${expires}; ${renewal}`);
  }
  const soon = last.notAfter - now < EXPIRES_SOON_MS;
  return soon
    ? condition(type, "True", "CertificateExpiring", `the certificate expires at ${expires}, and the agent has not renewed it`)
    : condition(type, "True", "CertificateValid", `the certificate is valid until ${expires}`);
}

function condition(
  type: string,
  status: NewCondition["status"],
  reason: ClusterReason | "InvalidSpec" | "CompileError",
  message: string,
): NewCondition {
  return { type, status, reason, message };
}
