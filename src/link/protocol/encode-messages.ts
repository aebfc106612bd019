/** Domain types to protobuf: the inverse of the two parsers. Texts are cut to the limits here, so that no valid report is refused by the peer. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AgentHealth, AgentPayload } from "./agent-messages.ts";
import { agentStateNumber } from "./agent-states.ts";
import type { CellOrder, CellPayload } from "./cell-messages.ts";
import { AgentMessageSchema, CellCommandSchema, type AgentMessage, type CellCommand } from "./generated/agent_pb.ts";
import { LINK_LIMITS } from "./link-limits.ts";

type AgentInit = MessageInitShape<typeof AgentMessageSchema>["payload"];
type CellInit = MessageInitShape<typeof CellCommandSchema>["command"];

/** `now`: for the timestamp of a heartbeat. */
export function encodeAgentPayload(cluster: string, payload: AgentPayload, now: number): AgentMessage {
  const encoded = agentInit(payload, now);
  return create(AgentMessageSchema, { clusterName: cluster, ...(encoded === undefined ? {} : { payload: encoded }) });
}

function agentInit(payload: AgentPayload, now: number): AgentInit {
  switch (payload.kind) {
    case "ready": {
      const { agentVersion, kubernetesVersion, protocolVersions, generation, state } = payload;
      const value = {
        agentVersion: cut(agentVersion),
        kubernetesVersion: cut(kubernetesVersion),
        protocolVersions: [...protocolVersions],
        generation,
        state: agentStateNumber(state),
      };
      return { case: "ready", value };
    }
    case "bootstrap-complete":
      return { case: "bootstrapComplete", value: {} };
    case "pivot-complete":
      return { case: "pivotComplete", value: { success: payload.success, errorMessage: cut(payload.error) } };
    case "heartbeat":
      return { case: "heartbeat", value: { state: agentStateNumber(payload.state), timestamp: timestampFromMs(now) } };
    case "health":
      return { case: "clusterHealth", value: healthInit(payload.health) };
    case "command-ack": {
      const effects = payload.effects.slice(0, LINK_LIMITS.effects).map(cut);
      const value = { commandId: payload.id, success: payload.success, errorMessage: cut(payload.error), effects };
      return { case: "commandAck", value };
    }
    case "batch-ack":
      return { case: "batchAck", value: batchAckInit(payload) };
    case "resource-batch":
      return { case: "resourceBatch", value: batchInit(payload) };
    case "renewal-request":
      return { case: "renewalRequest", value: { certificateSigningRequest: bytes(payload.csr) } };
    case "unknown":
      return undefined;
  }
}

function healthInit(health: AgentHealth) {
  const pools = [...health.pools].slice(0, LINK_LIMITS.pools).map(([name, pool]) => [cut(name), pool] as const);
  return {
    readyNodes: health.readyNodes,
    totalNodes: health.totalNodes,
    conditions: health.conditions.slice(0, LINK_LIMITS.conditions).map(cut),
    kubernetesVersion: cut(health.kubernetesVersion),
    // fromEntries defines properties, so that a pool may be called __proto__
    pools: Object.fromEntries(pools),
    specDigest: health.specDigest ?? "",
    ownershipEpoch: health.ownershipEpoch ?? 0,
    parentAddresses: (health.parentAddresses ?? []).slice(0, LINK_LIMITS.addresses).map(cut),
  };
}

export function encodeCellPayload(payload: CellPayload): CellCommand {
  const encoded = cellInit(payload);
  const commandId = "id" in payload ? payload.id : "";
  return create(CellCommandSchema, { commandId, ...(encoded === undefined ? {} : { command: encoded }) });
}

function cellInit(payload: CellPayload): CellInit {
  switch (payload.kind) {
    case "welcome": {
      const { protocol, cellVersion, heartbeatMs, trustBundle } = payload;
      const heartbeatSeconds = Math.round(heartbeatMs / 1_000);
      return { case: "welcome", value: { protocolVersion: protocol, cellVersion, heartbeatSeconds, trustBundle: bytes(trustBundle) } };
    }
    case "renewal-response": {
      const { certificate, trustBundle, error } = payload;
      return {
        case: "renewalResponse",
        value: { certificate: bytes(certificate), trustBundle: bytes(trustBundle), errorMessage: cut(error) },
      };
    }
    case "order":
      return orderInit(payload.order);
    case "tunnel":
      return { case: "kubernetesRequest", value: { tunnelId: payload.id } };
    case "resource-batch":
      return { case: "resourceBatch", value: batchInit(payload) };
    case "batch-ack":
      return { case: "batchAck", value: batchAckInit(payload) };
    case "unknown":
      return undefined;
  }
}

function orderInit(order: CellOrder): CellInit {
  switch (order.kind) {
    case "bootstrap":
      return { case: "bootstrap", value: { fluxManifests: order.manifests } };
    case "pivot": {
      const { cluster, namespace, resources } = order;
      return { case: "pivot", value: { clusterName: cluster, capiNamespace: namespace, capiResources: resources } };
    }
    case "reconcile":
      return { case: "reconcile", value: {} };
    case "status":
      return { case: "statusRequest", value: {} };
  }
}

type BatchFields = Extract<AgentPayload, { kind: "resource-batch" }>;
type BatchAckFields = Extract<AgentPayload, { kind: "batch-ack" }>;

function batchInit({ transfer, index, count, objects, digest }: BatchFields) {
  return { transferId: transfer, index, count, objects, digest };
}

function batchAckInit({ transfer, index, digest, error }: BatchAckFields) {
  return { transferId: transfer, index, digest, errorMessage: cut(error) };
}

function cut(text: string): string {
  return text.slice(0, LINK_LIMITS.textLength).toWellFormed();
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
