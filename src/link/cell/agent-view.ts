/** What users see of a session. */
import type { SessionState } from "../protocol/session-machine.ts";
import type { AgentView } from "./cell-types.ts";

export function agentView(cluster: string, session: SessionState): AgentView {
  const { state, agentVersion, protocol, kubernetesVersion, bootstrapComplete, lastHeartbeat, health, lastCloseReason } = session;
  return {
    cluster,
    connected: session.phase === "connected",
    state,
    agentVersion,
    protocol,
    kubernetesVersion,
    bootstrapComplete,
    ...(session.phase === "connected" ? { connectedSince: session.connectedSince } : {}),
    ...(lastHeartbeat === undefined ? {} : { lastHeartbeat }),
    ...(health === undefined ? {} : { health }),
    ...(lastCloseReason === undefined ? {} : { lastCloseReason }),
  };
}
