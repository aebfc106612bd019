/**
 * `status.agent` of a child. Pure.
 *
 * Every agent sends a heartbeat each 30 seconds. Writing each of them would be the largest load of a cell, so the time of the last one is
 * written at most every five minutes; metrics have the others.
 */
import { millisecondsOf } from "#base";
import type { LatticeClusterStatus } from "#crds";
import type { ChildAgent } from "./ports.ts";

export const HEARTBEAT_WRITTEN_EVERY_MS = 300_000;

export type AgentStatus = NonNullable<LatticeClusterStatus["agent"]>;

export function agentStatusOf(agent: ChildAgent, written: AgentStatus | undefined): AgentStatus {
  const { state, agentVersion, protocol, connectedSince, lastCloseReason = written?.lastCloseReason } = agent;
  const since = connectedSince === undefined ? written?.connectedSince : timeText(connectedSince);
  const lastHeartbeat = heartbeatToWrite(agent.lastHeartbeat, written?.lastHeartbeat);
  return {
    state,
    ...(agentVersion === "" ? {} : { version: agentVersion }),
    ...(protocol === 0 ? {} : { protocol: String(protocol) }),
    ...(since === undefined ? {} : { connectedSince: since }),
    ...(lastHeartbeat === undefined ? {} : { lastHeartbeat }),
    ...(lastCloseReason === undefined ? {} : { lastCloseReason }),
  };
}

function heartbeatToWrite(latest: number | undefined, written: string | undefined): string | undefined {
  if (latest === undefined) return written;
  const due = written === undefined || latest - millisecondsOf(written) >= HEARTBEAT_WRITTEN_EVERY_MS;
  return due ? timeText(latest) : written;
}

/** Everything a user sees, without the time of the last heartbeat: two views with one text need no second pass. */
export function visibleAgent({ lastHeartbeat: _lastHeartbeat, ...agent }: ChildAgent): string {
  return JSON.stringify({
    ...agent,
    health: agent.health === undefined ? undefined : { ...agent.health, pools: [...(agent.health.pools ?? [])] },
  });
}

/** In whole seconds, as Kubernetes writes times. */
export function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, -5)}Z`;
}
