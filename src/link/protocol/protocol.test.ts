import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { file_agent } from "./generated/agent_pb.ts";

/** The protocol as it was first written down. Released names and numbers never change; this table is not to be edited, only extended. */
const FIRST_MESSAGES: Readonly<Record<string, Readonly<Record<string, readonly [number, string]>>>> = {
  AgentMessage: {
    cluster_name: [1, "string"],
    ready: [2, "AgentReady"],
    bootstrap_complete: [3, "BootstrapComplete"],
    pivot_complete: [4, "PivotComplete"],
    heartbeat: [5, "Heartbeat"],
    cluster_health: [6, "ClusterHealth"],
  },
  AgentReady: { agent_version: [1, "string"], kubernetes_version: [2, "string"] },
  BootstrapComplete: {},
  PivotComplete: { success: [1, "bool"], error_message: [2, "string"] },
  Heartbeat: { state: [1, "AgentState"], timestamp: [2, "google.protobuf.Timestamp"] },
  ClusterHealth: { ready_nodes: [1, "int32"], total_nodes: [2, "int32"], conditions: [3, "repeated string"] },
  CellCommand: {
    bootstrap: [1, "BootstrapCommand"],
    pivot: [2, "PivotCommand"],
    reconcile: [3, "ReconcileCommand"],
    status_request: [4, "StatusRequest"],
  },
  BootstrapCommand: { flux_manifests: [1, "bytes"] },
  PivotCommand: { cluster_name: [1, "string"], capi_namespace: [2, "string"], capi_resources: [3, "bytes"] },
  ReconcileCommand: {},
  StatusRequest: {},
};
const ONEOFS = {
  AgentMessage: ["payload", ["ready", "bootstrap_complete", "pivot_complete", "heartbeat", "cluster_health"]],
  CellCommand: ["command", ["bootstrap", "pivot", "reconcile", "status_request"]],
} as const;
const FIRST_STATES = ["UNKNOWN", "PROVISIONING", "PIVOTING", "READY", "DEGRADED", "FAILED"].map((name) => `AGENT_STATE_${name}`);

function message(name: string): DescMessage {
  const found = file_agent.messages.find((one) => one.name === name);
  if (found === undefined) throw new Error(`agent.proto has no message ${name}`);
  return found;
}

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "scalar":
      return ScalarType[field.scalar].toLowerCase();
    case "message":
      return field.message.typeName.replace("lattice.agent.v1.", "");
    case "enum":
      return field.enum.name;
    case "list":
      return `repeated ${field.listKind === "scalar" ? ScalarType[field.scalar].toLowerCase() : field.listKind}`;
    case "map":
      return "map";
  }
}

describe("agent.proto", () => {
  it("has the package and the service of the first protocol", () => {
    expect(file_agent.proto.package).toBe("lattice.agent.v1");
    const [service] = file_agent.services;
    expect(service?.typeName).toBe("lattice.agent.v1.LatticeAgent");
    const [connect] = service?.methods ?? [];
    expect([connect?.name, connect?.methodKind, connect?.input.name, connect?.output.name]).toEqual([
      "Connect",
      "bidi_streaming",
      "AgentMessage",
      "CellCommand",
    ]);
  });

  it.each(Object.entries(FIRST_MESSAGES))("keeps names, numbers and types of %s", (name, fields) => {
    for (const [field, [number, type]] of Object.entries(fields)) {
      const found = message(name).fields.find((one) => one.name === field);
      expect([found?.number, found === undefined ? "" : typeOf(found)], `${name}.${field}`).toEqual([number, type]);
    }
  });

  it("keeps the alternatives of the two messages", () => {
    for (const [name, [oneof, fields]] of Object.entries(ONEOFS)) {
      const found = message(name).oneofs.find((one) => one.name === oneof);
      expect(found?.fields.map((field) => field.name)).toEqual(expect.arrayContaining([...fields]));
    }
  });

  it("keeps names and numbers of the agent's states", () => {
    const [states] = file_agent.enums;
    expect(states?.name).toBe("AgentState");
    expect(states?.values.map(({ name, number }) => [name, number])).toEqual(FIRST_STATES.map((name, number) => [name, number]));
  });

  it.each(["AgentMessage", "CellCommand"])("reserves 20 to 29 of %s", (name) => {
    expect(message(name).proto.reservedRange.map(({ start, end }) => [start, end])).toEqual([[20, 30]]);
    expect(message(name).fields.filter(({ number }) => number >= 20 && number < 30)).toEqual([]);
  });
});
