import { create, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk, ok } from "#base";
import { parseAgentMessage, type AgentPayload } from "./agent-messages.ts";
import { agentStateName } from "./agent-states.ts";
import { parseCellCommand, type CellPayload } from "./cell-messages.ts";
import { encodeAgentPayload, encodeCellPayload } from "./encode-messages.ts";
import { AgentMessageSchema, CellCommandSchema } from "./generated/agent_pb.ts";
import { LINK_LIMITS } from "./link-limits.ts";
import { negotiateVersion } from "./protocol-version.ts";
import { agentMessageCodec, cellCommandCodec } from "./wire.ts";

const NOW = Date.UTC(2026, 0, 1);
const health = { readyNodes: 2, totalNodes: 3, conditions: ["NodeReady"], kubernetesVersion: "v1.35.0" };
const digest = new Uint8Array(32).fill(7);

const AGENT_PAYLOADS: readonly AgentPayload[] = [
  { kind: "ready", agentVersion: "1", kubernetesVersion: "v1.35.0", protocolVersions: [1], generation: 7n, state: "Ready" },
  { kind: "bootstrap-complete" },
  { kind: "pivot-complete", success: false, error: "no objects" },
  { kind: "heartbeat", state: "Degraded" },
  { kind: "health", health: { ...health, pools: new Map(), specDigest: "0a".repeat(32), ownershipEpoch: 3 } },
  { kind: "health", health: { ...health, pools: new Map(), parentAddresses: ["10.0.0.1:50051", "https://10.0.0.1:8443"] } },
  { kind: "health", health: { ...health, pools: new Map([["constructor", { desired: 3, ready: 1 }]]) } },
  { kind: "command-ack", id: "a-1", success: true, error: "", effects: ["Kustomization flux-system/apps"] },
  { kind: "batch-ack", transfer: "t", index: 1, digest, error: "" },
  { kind: "resource-batch", transfer: "t", index: 1, count: 2, objects: digest, digest },
  { kind: "renewal-request", csr: "-----BEGIN CERTIFICATE REQUEST-----" },
  { kind: "unknown" },
];
const CELL_PAYLOADS: readonly CellPayload[] = [
  { kind: "welcome", protocol: 1, cellVersion: "2", heartbeatMs: 30_000, trustBundle: "PEM" },
  { kind: "renewal-response", certificate: "PEM", trustBundle: "PEM", error: "" },
  { kind: "order", id: "a-1", order: { kind: "bootstrap", manifests: digest } },
  { kind: "order", id: "a-2", order: { kind: "pivot", cluster: "a", namespace: "capi-a", resources: digest } },
  { kind: "order", id: "a-3", order: { kind: "reconcile" } },
  { kind: "order", id: "a-4", order: { kind: "status" } },
  { kind: "tunnel", id: "t-1" },
  { kind: "resource-batch", transfer: "t", index: 0, count: 2, objects: digest, digest },
  { kind: "batch-ack", transfer: "t", index: 1, digest, error: "differs" },
  { kind: "unknown", id: "later" },
];

describe("parseAgentMessage", () => {
  it.each(AGENT_PAYLOADS)("reads what encodeAgentPayload wrote: $kind", (payload) => {
    const bytes = agentMessageCodec.encode(encodeAgentPayload("a", payload, NOW));
    expect(parseAgentMessage(expectOk(agentMessageCodec.decode(bytes)), "a")).toEqual(ok(payload));
  });

  it("refuses the name of another cluster", () => {
    const message = encodeAgentPayload("b", { kind: "bootstrap-complete" }, NOW);
    expect(parseAgentMessage(message, "a")).toEqual({ ok: false, error: 'cluster_name: is "b", but the certificate is for "a"' });
  });

  const long = "x".repeat(LINK_LIMITS.textLength + 1);
  const limits = [
    { name: "a long version", payload: { case: "ready", value: { agentVersion: long } }, want: "ready.agent_version: must have" },
    {
      name: "many versions",
      payload: { case: "ready", value: { protocolVersions: Array(17).fill(1) } },
      want: "protocol_versions: must have",
    },
    { name: "a long error", payload: { case: "pivotComplete", value: { errorMessage: long } }, want: "pivot_complete.error_message" },
    { name: "many conditions", payload: { case: "clusterHealth", value: { conditions: Array(101).fill("c") } }, want: "at most 100 items" },
    {
      name: "a digest that is none",
      payload: { case: "clusterHealth", value: { specDigest: "XY" } },
      want: "cluster_health.spec_digest: must be empty or a SHA-256 in hex",
    },
    { name: "a long condition", payload: { case: "clusterHealth", value: { conditions: [long] } }, want: "cluster_health.conditions" },
    { name: "negative nodes", payload: { case: "clusterHealth", value: { readyNodes: -1 } }, want: "must not be negative" },
    { name: "negative replicas", payload: { case: "clusterHealth", value: { pools: { a: { ready: -1 } } } }, want: "must not be negative" },
    {
      name: "many pools",
      payload: { case: "clusterHealth", value: { pools: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`p${at}`, {}])) } },
      want: "cluster_health.pools: must have at most 64 items",
    },
    { name: "an ack without id", payload: { case: "commandAck", value: {} }, want: "command_ack.command_id: must not be empty" },
    { name: "many effects", payload: { case: "commandAck", value: { commandId: "a", effects: Array(101).fill("e") } }, want: "effects" },
    { name: "a batch behind the last", payload: { case: "resourceBatch", value: { transferId: "t", index: 2, count: 2 } }, want: "index" },
    { name: "a batch ack without transfer", payload: { case: "batchAck", value: {} }, want: "batch_ack.transfer_id" },
    {
      name: "a large request",
      payload: { case: "renewalRequest", value: { certificateSigningRequest: new Uint8Array(LINK_LIMITS.pemBytes + 1) } },
      want: "certificate_signing_request: must have",
    },
    {
      name: "a request that is no text",
      payload: { case: "renewalRequest", value: { certificateSigningRequest: Uint8Array.of(0xff) } },
      want: "is no UTF-8 text",
    },
  ] as const;
  it.each(limits)("refuses $name", ({ payload, want }) => {
    const parsed = parseAgentMessage(create(AgentMessageSchema, { clusterName: "a", payload: payload as never }), "a");
    expect(parsed.ok ? "" : parsed.error).toContain(want);
  });

  it("cuts its own reports to the limits of the peer", () => {
    const pools = new Map(Array.from({ length: 70 }, (_, at) => [`p${at}`, { desired: 1, ready: 1 }] as const));
    const large = { kind: "health", health: { ...health, conditions: Array(200).fill(`${long}\ud800`) as string[], pools } } as const;
    const parsed = expectOk(parseAgentMessage(encodeAgentPayload("a", large, NOW), "a"));
    expect(parsed.kind === "health" && [parsed.health.conditions.length, parsed.health.pools.size]).toEqual([100, 64]);
  });
});

describe("parseCellCommand", () => {
  it.each(CELL_PAYLOADS)("reads what encodeCellPayload wrote: $kind", (payload) => {
    const bytes = cellCommandCodec.encode(encodeCellPayload(payload));
    expect(parseCellCommand(expectOk(cellCommandCodec.decode(bytes)))).toEqual(ok(payload));
  });

  const refused = [
    { name: "a command without id", command: { case: "reconcile", value: {} }, want: "command_id: must not be empty" },
    { name: "a tunnel without id", command: { case: "kubernetesRequest", value: {} }, want: "tunnel_id: must not be empty" },
    { name: "a period above the stale time", command: { case: "welcome", value: { heartbeatSeconds: 91 } }, want: "must be at most 90" },
    { name: "a long cell version", command: { case: "welcome", value: { cellVersion: "x".repeat(2_000) } }, want: "welcome.cell_version" },
  ] as const;
  it.each(refused)("refuses $name", ({ command, want }) => {
    const parsed = parseCellCommand(create(CellCommandSchema, { command: command as never }));
    expect(parsed.ok ? "" : parsed.error).toContain(want);
  });

  it("uses the usual period when the cell names none", () => {
    const parsed = expectOk(parseCellCommand(create(CellCommandSchema, { command: { case: "welcome", value: {} } })));
    expect(parsed).toMatchObject({ kind: "welcome", heartbeatMs: 30_000 });
  });
});

describe("decoding", () => {
  it("never throws, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const agent = agentMessageCodec.decode(bytes);
        if (agent.ok) parseAgentMessage(agent.value, "a");
        const cell = cellCommandCodec.decode(bytes);
        if (cell.ok) parseCellCommand(cell.value);
      }),
    );
  });

  it("never throws for a valid message with one changed byte", () => {
    const valid = AGENT_PAYLOADS.map((payload) => toBinary(AgentMessageSchema, encodeAgentPayload("a", payload, NOW)));
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.nat(), fc.nat(255), (bytes, at, value) => {
        const changed = Uint8Array.from(bytes);
        changed[at % changed.length] = value;
        const decoded = agentMessageCodec.decode(changed);
        if (decoded.ok) parseAgentMessage(decoded.value, "a");
      }),
    );
  });

  it("refuses a message above the limit before it is decoded", () => {
    const decoded = agentMessageCodec.decode(new Uint8Array(LINK_LIMITS.messageBytes + 1));
    expect(decoded).toEqual({ ok: false, error: "AgentMessage has more than 4194304 bytes" });
  });

  it("reads a state of a newer version as Unknown", () => {
    expect(agentStateName(99)).toBe("Unknown");
  });
});

describe("negotiateVersion", () => {
  const rows = [
    { name: "the agent's preferred version that the cell has", offered: [3, 2, 1], supported: [1, 2], want: ok(2) },
    { name: "1, when the agent offers none", offered: [], supported: [1], want: ok(1) },
  ];
  it.each(rows)("chooses $name", ({ offered, supported, want }) => expect(negotiateVersion(offered, supported)).toEqual(want));

  it("names the older side when there is no common version", () => {
    const error = "the agent has protocol versions 2, 3, the cell 1; update the cell";
    expect(negotiateVersion([2, 3], [1])).toEqual({ ok: false, error });
    expect(negotiateVersion([1], [2])).toMatchObject({ error: expect.stringContaining("update the agent") as string });
  });
});
