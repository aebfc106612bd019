/** The state of an agent as a name, and its number on the wire. */
import { AgentState } from "./generated/agent_pb.ts";

export type AgentStateName = "Unknown" | "Provisioning" | "Pivoting" | "Ready" | "Degraded" | "Failed";

const NUMBERS: Readonly<Record<AgentStateName, AgentState>> = {
  Unknown: AgentState.UNKNOWN,
  Provisioning: AgentState.PROVISIONING,
  Pivoting: AgentState.PIVOTING,
  Ready: AgentState.READY,
  Degraded: AgentState.DEGRADED,
  Failed: AgentState.FAILED,
};
const NAMES: ReadonlyMap<number, AgentStateName> = new Map(
  (["Unknown", "Provisioning", "Pivoting", "Ready", "Degraded", "Failed"] as const).map((name) => [NUMBERS[name], name]),
);

export function agentStateNumber(name: AgentStateName): AgentState {
  return NUMBERS[name];
}

/** A state of a newer version is Unknown. */
export function agentStateName(number: number): AgentStateName {
  return NAMES.get(number) ?? "Unknown";
}
