/**
 * What an agent sends, as domain types. `parseAgentMessage` is the only way in: it checks the limits and the cluster's name.
 *
 * A payload that this version does not have is "unknown" and ignored, so that a newer agent can send more.
 */
import { err, map, ok, type Result } from "#base";
import { agentStateName, type AgentStateName } from "./agent-states.ts";
import type { AgentMessage, BatchAck, ClusterHealth, ResourceBatch } from "./generated/agent_pb.ts";
import { LINK_LIMITS } from "./link-limits.ts";
import { countCheck, firstFault, idCheck, listCheck, pemText, textCheck } from "./wire-checks.ts";

export type AgentHealth = {
  readonly readyNodes: number;
  readonly totalNodes: number;
  readonly conditions: readonly string[];
  readonly kubernetesVersion: string;
  readonly pools: ReadonlyMap<string, { readonly desired: number; readonly ready: number }>;
  /** Of the spec of the child's own LatticeCluster; absent: it has none. */
  readonly specDigest?: string | undefined;
  /** By which the child drives its own Cluster API objects; absent: it does not. */
  readonly ownershipEpoch?: number | undefined;
  /** The addresses of the cell that the agent has; absent: an older agent. */
  readonly parentAddresses?: readonly string[] | undefined;
};

export type AgentReadyMessage = {
  readonly kind: "ready";
  readonly agentVersion: string;
  readonly kubernetesVersion: string;
  readonly protocolVersions: readonly number[];
  readonly generation: bigint;
  readonly state: AgentStateName;
};

/** The result of a command, as the agent acknowledges it. */
export type CommandAckMessage = {
  readonly kind: "command-ack";
  readonly id: string;
  readonly success: boolean;
  readonly error: string;
  readonly effects: readonly string[];
};

export type BatchMessage = {
  readonly kind: "resource-batch";
  readonly transfer: string;
  readonly index: number;
  readonly count: number;
  readonly objects: Uint8Array;
  readonly digest: Uint8Array;
};

export type BatchAckMessage = {
  readonly kind: "batch-ack";
  readonly transfer: string;
  readonly index: number;
  readonly digest: Uint8Array;
  readonly error: string;
};

export type AgentPayload =
  | AgentReadyMessage
  | { readonly kind: "bootstrap-complete" }
  | { readonly kind: "pivot-complete"; readonly success: boolean; readonly error: string }
  | { readonly kind: "heartbeat"; readonly state: AgentStateName }
  | { readonly kind: "health"; readonly health: AgentHealth }
  | CommandAckMessage
  | BatchMessage
  | BatchAckMessage
  | { readonly kind: "renewal-request"; readonly csr: string }
  | { readonly kind: "unknown" };

/** `cluster`: the name in the certificate of the sender. */
export function parseAgentMessage(message: AgentMessage, cluster: string): Result<AgentPayload, string> {
  if (message.clusterName !== cluster) {
    return err(`cluster_name: is "${message.clusterName.slice(0, 253)}", but the certificate is for "${cluster}"`);
  }
  const { payload } = message;
  switch (payload.case) {
    case "ready": {
      const { agentVersion, kubernetesVersion, protocolVersions, generation, state } = payload.value;
      if (protocolVersions.length > LINK_LIMITS.protocolVersions) {
        return err(`ready.protocol_versions: must have at most ${LINK_LIMITS.protocolVersions} items`);
      }
      const checks = [textCheck("ready.agent_version", agentVersion), textCheck("ready.kubernetes_version", kubernetesVersion)];
      const ready = { kind: "ready", agentVersion, kubernetesVersion, protocolVersions, generation, state: agentStateName(state) } as const;
      return map(firstFault(checks), () => ready);
    }
    case "bootstrapComplete":
      return ok({ kind: "bootstrap-complete" });
    case "pivotComplete": {
      const { success, errorMessage } = payload.value;
      const checked = firstFault([textCheck("pivot_complete.error_message", errorMessage)]);
      return map(checked, () => ({ kind: "pivot-complete", success, error: errorMessage }) as const);
    }
    case "heartbeat":
      return ok({ kind: "heartbeat", state: agentStateName(payload.value.state) });
    case "clusterHealth":
      return map(healthOf(payload.value), (health) => ({ kind: "health", health }) as const);
    case "commandAck": {
      const { commandId, success, errorMessage, effects } = payload.value;
      const checks = [
        idCheck("command_ack.command_id", commandId),
        textCheck("command_ack.error_message", errorMessage),
        listCheck("command_ack.effects", effects, LINK_LIMITS.effects),
      ];
      return map(firstFault(checks), () => ({ kind: "command-ack", id: commandId, success, error: errorMessage, effects }) as const);
    }
    case "batchAck":
      return batchAckOf(payload.value);
    case "resourceBatch":
      return batchOf(payload.value);
    case "renewalRequest":
      return map(pemText("renewal_request.certificate_signing_request", payload.value.certificateSigningRequest), (csr) => {
        return { kind: "renewal-request", csr } as const;
      });
    default:
      return ok({ kind: "unknown" });
  }
}

function healthOf(health: ClusterHealth): Result<AgentHealth, string> {
  const pools = new Map(Object.entries(health.pools).map(([name, { desired, ready }]) => [name, { desired, ready }] as const));
  const { readyNodes, totalNodes, conditions, kubernetesVersion, specDigest, ownershipEpoch, parentAddresses } = health;
  const checks = [
    countCheck("cluster_health.ready_nodes", readyNodes),
    countCheck("cluster_health.total_nodes", totalNodes),
    listCheck("cluster_health.conditions", conditions, LINK_LIMITS.conditions),
    textCheck("cluster_health.kubernetes_version", kubernetesVersion),
    listCheck("cluster_health.parent_addresses", parentAddresses, LINK_LIMITS.addresses),
    listCheck("cluster_health.pools", [...pools.keys()], LINK_LIMITS.pools),
    { field: "cluster_health.spec_digest", fault: DIGEST.test(specDigest) ? undefined : "must be empty or a SHA-256 in hex" },
    ...[...pools.values()].flatMap(({ desired, ready }) => [desired, ready].map((count) => countCheck("cluster_health.pools", count))),
  ];
  return map(firstFault(checks), () => ({
    readyNodes,
    totalNodes,
    conditions,
    kubernetesVersion,
    pools,
    ...(specDigest === "" ? {} : { specDigest }),
    ...(ownershipEpoch === 0 ? {} : { ownershipEpoch }),
    ...(parentAddresses.length === 0 ? {} : { parentAddresses }),
  }));
}

const DIGEST = /^([0-9a-f]{64})?$/;

export function batchOf({ transferId, index, count, objects, digest }: ResourceBatch): Result<BatchMessage, string> {
  const range = { field: "resource_batch.index", fault: index < count ? undefined : "must be less than resource_batch.count" };
  return map(firstFault([idCheck("resource_batch.transfer_id", transferId), range]), () => {
    return { kind: "resource-batch", transfer: transferId, index, count, objects, digest };
  });
}

export function batchAckOf({ transferId, index, digest, errorMessage }: BatchAck): Result<BatchAckMessage, string> {
  const checks = [idCheck("batch_ack.transfer_id", transferId), textCheck("batch_ack.error_message", errorMessage)];
  return map(firstFault(checks), () => ({ kind: "batch-ack", transfer: transferId, index, digest, error: errorMessage }));
}
