import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { err, expectOk, ok, type Result } from "#base";
import { encodeAgentPayload } from "../protocol/encode-messages.ts";
import { CellCommandSchema } from "../protocol/generated/agent_pb.ts";
import { LINK_LIMITS, LINK_TIMES } from "../protocol/link-limits.ts";
import type { AgentReport } from "./agent-types.ts";
import { MemoryLink, REPORT } from "./memory-link.test-support.ts";

const links: MemoryLink[] = [];
const never = new AbortController().signal;

function newLink(): MemoryLink {
  const link = new MemoryLink();
  links.push(link);
  return link;
}

afterEach(async () => {
  for (const link of links.splice(0)) {
    await link.close();
    expect(link.clock.pending).toBe(0);
  }
});

function warnings(link: MemoryLink) {
  return link.logs.filter(({ level }) => level === "warn");
}

describe("a connected agent", () => {
  it("is visible to the cell with its versions, state and health", async () => {
    const link = newLink();
    const agent = link.start("a");
    await link.clock.advance(0);
    expect(link.sessions.agents().get("a")).toMatchObject({
      cluster: "a",
      connected: true,
      state: "Ready",
      agentVersion: "1.0.0",
      protocol: 1,
      kubernetesVersion: "v1.35.0",
      health: REPORT.health,
      bootstrapComplete: true,
    });
    expect(agent.status()).toMatchObject({ connected: true, protocol: 1 });
    expect(link.metrics.render()).toContain("lattice_link_agents_connected 1");
  });

  it("sends heartbeats every 30 s, 10 % more or less", async () => {
    const link = newLink();
    link.start("a");
    await link.clock.advance(0);
    const beats = new Set<number>();
    for (let second = 0; second < 3_000; second += 1) {
      await link.clock.advance(1_000);
      beats.add(link.sessions.agents().get("a")?.lastHeartbeat ?? 0);
    }
    const times = [...beats].toSorted((x, y) => x - y);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(27_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(33_001);
    expect(new Set(gaps).size).toBeGreaterThan(10);
  });

  it("sends its health only when it has changed, and its state at once", async () => {
    const link = newLink();
    let report: AgentReport = REPORT;
    const agent = link.start("a", { report: () => Promise.resolve(report) });
    await link.clock.advance(0);
    const changes: string[] = [];
    link.sessions.subscribe((cluster) => changes.push(cluster));
    await link.clock.advance(300_000);
    expect(changes).toEqual([]);
    report = { state: "Degraded", health: { ...REPORT.health, readyNodes: 1 } };
    agent.reportChanged();
    await link.clock.advance(0);
    expect(link.sessions.agents().get("a")).toMatchObject({ state: "Degraded", health: { readyNodes: 1 } });
    expect(changes).toEqual(["a", "a"]);
  });

  it("reports that its cluster owns itself: epoch and spec with the health, PivotComplete once on a connection", async () => {
    const link = newLink();
    const sent: string[] = [];
    link.onAgentMessage = ({ payload }) => void (payload.case === "pivotComplete" && sent.push(payload.case));
    let report: AgentReport = REPORT;
    const agent = link.start("a", { report: () => Promise.resolve(report) });
    await link.clock.advance(0);
    expect(link.sessions.agents().get("a")?.health).toEqual(REPORT.health);
    for (const specDigest of ["a".repeat(64), "b".repeat(64)]) {
      report = { state: "Ready", health: { ...REPORT.health, ownershipEpoch: 1, specDigest } };
      agent.reportChanged();
      await link.clock.advance(0);
      expect(link.sessions.agents().get("a")?.health).toMatchObject({ ownershipEpoch: 1, specDigest });
    }
    expect(sent).toHaveLength(1);
  });

  it("sends heartbeats while its own report fails or never returns", async () => {
    const link = newLink();
    link.start("a", { report: () => new Promise<AgentReport>(() => {}) });
    link.start("b", { report: () => Promise.reject(new Error("no API server")) });
    await link.clock.advance(LINK_TIMES.reportMs + 300_000);
    for (const name of ["a", "b"]) expect(link.sessions.agents().get(name)).toMatchObject({ connected: true, state: "Unknown" });
  });
});

describe("commands", () => {
  it("are acknowledged with what they caused", async () => {
    const link = newLink();
    link.start("a");
    await link.clock.advance(0);
    const sent = link.sessions.send("a", { kind: "reconcile" }, never);
    await link.clock.advance(0);
    expect(await sent).toEqual(ok({ effects: ["Kustomization flux-system/apps"] }));
  });

  it("report the failure of the agent", async () => {
    const link = newLink();
    link.start("a", {
      onReconcile: () => Promise.resolve(err("Flux is not installed")),
      onBootstrap: () => Promise.reject(new Error("boom")),
    });
    await link.clock.advance(0);
    const reconciled = link.sessions.send("a", { kind: "reconcile" }, never);
    const bootstrapped = link.sessions.send("a", { kind: "bootstrap", manifests: Uint8Array.of(1) }, never);
    const pivoted = link.sessions.send("a", { kind: "pivot", cluster: "a", namespace: "capi-a", resources: Uint8Array.of() }, never);
    await link.clock.advance(0);
    expect(await reconciled).toEqual(err({ kind: "failed", message: "Flux is not installed" }));
    expect(await bootstrapped).toEqual(err({ kind: "failed", message: "boom" }));
    expect(await pivoted).toEqual(err({ kind: "failed", message: "this agent cannot prepare its cluster for a pivot" }));
  });

  it.each([0, 3])("bootstrap with %i bytes ends with BootstrapComplete", async (bytes) => {
    const link = newLink();
    const manifests: Uint8Array[] = [];
    link.start("a", {
      onBootstrap(given) {
        manifests.push(given);
        return Promise.resolve(ok([]));
      },
    });
    await link.clock.advance(0);
    const sent = link.sessions.send("a", { kind: "bootstrap", manifests: new Uint8Array(bytes) }, never);
    await link.clock.advance(0);
    expect(await sent).toEqual(ok({ effects: [] }));
    expect(manifests).toHaveLength(bytes === 0 ? 0 : 1);
    expect(link.sessions.agents().get("a")?.bootstrapComplete).toBe(true);
  });

  it("for a pivot name the cluster and its namespace, and never carry objects", async () => {
    const link = newLink();
    const orders: unknown[] = [];
    link.start("a", {
      onPivot(order) {
        orders.push(order);
        return Promise.resolve(ok(["Secret capi-a/a-kubeconfig"]));
      },
    });
    await link.clock.advance(0);
    const command = { kind: "pivot", cluster: "a", namespace: "capi-a", resources: new Uint8Array() } as const;
    const sent = link.sessions.send("a", command, never);
    const withObjects = link.sessions.send("a", { ...command, resources: Uint8Array.of(1) }, never);
    await link.clock.advance(0);
    expect(await sent).toEqual(ok({ effects: ["Secret capi-a/a-kubeconfig"] }));
    expect(await withObjects).toMatchObject({ error: { kind: "failed" } });
    expect(orders).toEqual([{ cluster: "a", namespace: "capi-a" }]);
  });

  it("are preceded by an empty bootstrap on the first connection, also when its answer was lost", async () => {
    const link = newLink();
    let acknowledged = 0;
    link.onAgentMessage = (message) => {
      if (message.payload.case === "bootstrapComplete") acknowledged += 1;
    };
    link.start("a");
    await link.clock.advance(0);
    expect([link.sessions.agents().get("a")?.bootstrapComplete, acknowledged]).toEqual([true, 1]);
    link.channels.at(-1)?.control.close({ kind: "gone", reason: "network" });
    await link.clock.advance(10_000);
    expect([link.sessions.agents().get("a")?.connected, acknowledged]).toEqual([true, 1]);
    link.restartCell();
    await link.clock.advance(60_000);
    expect([link.sessions.agents().get("a")?.bootstrapComplete, acknowledged]).toEqual([true, 2]);
  });

  it("ask for the status: heartbeat and health arrive before the acknowledgement", async () => {
    const link = newLink();
    let readyNodes = 2;
    link.start("a", { report: () => Promise.resolve({ state: "Ready", health: { ...REPORT.health, readyNodes } }) });
    await link.clock.advance(0);
    readyNodes = 3;
    const sent = link.sessions.send("a", { kind: "status" }, never);
    await link.clock.advance(0);
    expect(await sent).toEqual(ok({ effects: [] }));
    expect(link.sessions.agents().get("a")?.health?.readyNodes).toBe(3);
  });

  it("survive a reconnect, and are carried out once", async () => {
    const link = newLink();
    let runs = 0;
    let finish: (result: Result<readonly string[], string>) => void = () => {};
    link.start("a", {
      onReconcile() {
        runs += 1;
        return new Promise((resolve) => (finish = resolve));
      },
    });
    await link.clock.advance(0);
    const sent = link.sessions.send("a", { kind: "reconcile" }, never);
    await link.clock.advance(0);
    link.channels.at(-1)?.control.close({ kind: "gone", reason: "network" });
    await link.clock.advance(0);
    finish(ok(["done"])); // while there is no connection
    await link.clock.advance(5_000);
    expect(await sent).toEqual(ok({ effects: ["done"] }));
    expect(runs).toBe(1);
  });

  it("that arrive twice are carried out once and acknowledged twice", async () => {
    const link = newLink();
    let runs = 0;
    const written: string[] = [];
    link.start("a", {
      onReconcile() {
        runs += 1;
        return Promise.resolve(ok([`run ${runs}`]));
      },
      transport: {
        open: () => {
          const opened = expectOk(link.connect({ cell: "c", cluster: "a", serial: "1" }));
          const { control } = opened;
          const replayed = {
            ...control,
            listen: (listener: Parameters<typeof control.listen>[0]) =>
              control.listen({
                ...listener,
                message(message) {
                  listener.message(message);
                  if (message.ok && message.value.commandId !== "") listener.message(message);
                },
              }),
            write(message: Parameters<typeof control.write>[0]) {
              if (message.payload.case === "commandAck" && message.payload.value.effects.length > 0)
                written.push(message.payload.value.effects.join());
              control.write(message);
            },
          };
          return ok({ ...opened, control: replayed });
        },
      },
    });
    await link.clock.advance(0);
    const sent = link.sessions.send("a", { kind: "reconcile" }, never);
    await link.clock.advance(0);
    expect(await sent).toEqual(ok({ effects: ["run 1"] }));
    expect(written).toEqual(["run 1", "run 1"]);
  });

  it("end with a reason: not connected, aborted, too large, too many, timed out", async () => {
    const link = newLink();
    link.start("a", { onReconcile: () => new Promise(() => {}) });
    const { sessions } = link;
    expect(await sessions.send("a", { kind: "reconcile" }, never)).toEqual(err({ kind: "not-connected", message: "a is not connected" }));
    await link.clock.advance(0);
    expect(await sessions.send("a", { kind: "reconcile" }, AbortSignal.abort())).toMatchObject({ error: { kind: "aborted" } });
    const large = new Uint8Array(LINK_LIMITS.messageBytes);
    expect(await sessions.send("a", { kind: "bootstrap", manifests: large }, never)).toMatchObject({ error: { kind: "too-large" } });
    const aborting = new AbortController();
    const aborted = sessions.send("a", { kind: "reconcile" }, aborting.signal);
    aborting.abort();
    expect(await aborted).toMatchObject({ error: { kind: "aborted" } });
    const pending = Array.from({ length: LINK_LIMITS.pendingCommands }, () => sessions.send("a", { kind: "reconcile" }, never));
    expect(await sessions.send("a", { kind: "reconcile" }, never)).toMatchObject({ error: { kind: "busy" } });
    await link.clock.advance(LINK_TIMES.commandMs);
    expect(await Promise.all(pending)).toEqual(
      pending.map(() => expect.objectContaining({ error: expect.objectContaining({ kind: "timeout" }) as unknown })),
    );
  });

  it("of a newer cell are refused with a reason", async () => {
    const link = newLink();
    link.start("a");
    await link.clock.advance(0);
    const acks: string[] = [];
    const control = link.channels.at(-1)?.control;
    const cellSide = link.lastCellStream();
    link.onAgentMessage = (message) => {
      if (message.payload.case === "commandAck") acks.push(message.payload.value.errorMessage);
    };
    cellSide.write(create(CellCommandSchema, { commandId: "x" }));
    cellSide.write(create(CellCommandSchema, {}));
    await link.clock.advance(0);
    expect(acks).toEqual(["this version of the agent does not have the command; update it"]);
    expect(control?.queued()).toBe(0);
  });
});

describe("a lost parent", () => {
  it("causes one warning, then one an hour, and nothing else", async () => {
    const link = newLink();
    link.reachable = false;
    const agent = link.start("a");
    await link.clock.advance(3 * 3_600_000 - 1);
    expect(warnings(link).map(({ message }) => message)).toEqual(
      Array(3).fill("the parent cannot be reached; this cluster continues without it"),
    );
    expect(agent.status()).toEqual({ connected: false, lastCloseReason: "connect ECONNREFUSED" });
    link.reachable = true;
    await link.clock.advance(60_000);
    expect(agent.status().connected).toBe(true);
  });

  it("is found again after the cell was started anew, by every agent", async () => {
    const link = newLink();
    for (const name of ["a", "b", "c"]) link.start(name);
    await link.clock.advance(0);
    link.restartCell();
    await link.clock.advance(3_000);
    expect([...link.sessions.agents().values()].map(({ connected }) => connected)).toEqual([true, true, true]);
  });

  it("that sends no Welcome is given up", async () => {
    const link = newLink();
    const agent = link.start("a", { transport: { open: () => ok(link.silentChannel()) } });
    await link.clock.advance(LINK_TIMES.welcomeMs);
    expect(agent.status()).toEqual({ connected: false, lastCloseReason: "the cell sent no Welcome within 20 seconds" });
  });
});

describe("a wall clock that is set", () => {
  it("does not end a connection or delay a reconnect, on either side", async () => {
    const link = newLink();
    const wall = { offset: 0 };
    const now = link.clock.now.bind(link.clock);
    link.clock.now = () => now() + wall.offset;
    const agent = link.start("a");
    await link.clock.advance(0);
    for (const offset of [3_600_000, -3_600_000]) {
      wall.offset = offset;
      await link.clock.advance(60_000);
      expect(link.sessions.agents().get("a")?.lastCloseReason).toBeUndefined();
    }
    wall.offset = 0;
    link.restartCell();
    wall.offset = -3_600_000;
    await link.clock.advance(5_000);
    expect(agent.status().connected).toBe(true);
  });
});

describe("the cell refuses", () => {
  const identity = { cell: "c", cluster: "a", serial: "1" };
  const ready = { kind: "ready", agentVersion: "", kubernetesVersion: "", protocolVersions: [1], generation: 1n, state: "Ready" } as const;

  it("an agent of another cell", () => {
    const link = newLink();
    const error = { kind: "refused", reason: 'the certificate is of cell "d"; this is cell "c"' };
    expect(link.sessions.admit({ ...identity, cell: "d" })).toEqual(err(error));
  });

  it("a revoked agent, until it is accepted again", async () => {
    const link = newLink();
    link.revoked.add("a");
    const agent = link.start("a");
    await link.clock.advance(0);
    expect(agent.status()).toEqual({ connected: false, lastCloseReason: "the certificate 01 is revoked" });
    link.revoked.delete("a");
    await link.clock.advance(60_000);
    expect(agent.status().connected).toBe(true);
    link.revoked.add("a");
    link.sessions.disconnect("a", "the certificate was revoked");
    await link.clock.advance(60_000);
    expect(link.sessions.agents().get("a")).toMatchObject({ connected: false, lastCloseReason: "the certificate was revoked" });
    link.sessions.forget("a", "the cluster was deleted");
    expect(link.sessions.agents().size).toBe(0);
  });

  it("an agent that speaks as another one", async () => {
    const link = newLink();
    const { control } = expectOk(link.connect(identity));
    const closed: string[] = [];
    control.listen({ message: () => {}, ended: ({ reason }) => closed.push(reason) });
    control.write(encodeAgentPayload("b", ready, 0));
    await link.clock.advance(0);
    expect(closed).toEqual(['cluster_name: is "b", but the certificate is for "a"']);
    expect(link.sessions.agents().size).toBe(0);
  });

  it("a stream without AgentReady", async () => {
    const link = newLink();
    const { control } = expectOk(link.connect(identity));
    const closed: string[] = [];
    control.listen({ message: () => {}, ended: ({ reason }) => closed.push(reason) });
    await link.clock.advance(10_000);
    expect(closed).toEqual(["the agent sent no AgentReady within 10 seconds"]);
  });

  it("an agent that sends no heartbeats, after 90 s", async () => {
    const link = newLink();
    const { control } = expectOk(link.connect(identity));
    const closed: string[] = [];
    control.listen({ message: () => {}, ended: ({ reason }) => closed.push(reason) });
    control.write(encodeAgentPayload("a", ready, 0));
    await link.clock.advance(90_000);
    expect(closed).toEqual([]);
    await link.clock.advance(6_000);
    expect(closed).toEqual(["no heartbeat for 90 seconds"]);
  });

  it("the older of two agents with one identity", async () => {
    const link = newLink();
    const [first, second] = [link.start("a", { generation: () => 1n }), link.start("a", { generation: () => 5n })];
    await link.clock.advance(0);
    expect(first.status()).toMatchObject({ connected: false, lastCloseReason: "replaced by generation 5" });
    await link.clock.advance(2_000);
    expect(first.status()).toMatchObject({
      connected: false,
      lastCloseReason: "generation 2 is stale: the cell has seen generation 5 of this cluster",
    });
    expect(second.status().connected).toBe(true);
  });

  it("an agent that does not read", async () => {
    const link = newLink();
    const { control } = expectOk(link.connect(identity));
    control.write(encodeAgentPayload("a", ready, 0));
    await link.clock.advance(0);
    for (let sent = 0; sent <= LINK_LIMITS.queuedMessages; sent += 1) link.sessions.welcomeAgain();
    await link.clock.advance(0);
    expect(link.sessions.agents().get("a")?.lastCloseReason).toContain("the agent does not read");
  });
});

describe("a tunnel that cannot be opened", () => {
  it("has a reason: not connected, aborted, late", async () => {
    const link = newLink();
    const { sessions } = link;
    expect(await sessions.openTunnel("a", never)).toEqual(err({ kind: "not-connected", message: "a is not connected" }));
    expect(await sessions.openTunnel("a", AbortSignal.abort())).toMatchObject({ error: { kind: "refused" } });
    link.start("a", {
      transport: { open: () => ok({ ...expectOk(link.connect({ cell: "c", cluster: "a", serial: "1" })), openTunnel: link.deafTunnel }) },
    });
    await link.clock.advance(0);
    const late = sessions.openTunnel("a", never);
    await link.clock.advance(LINK_TIMES.tunnelOpenMs);
    expect(await late).toEqual(err({ kind: "timeout", message: "the agent of a opened no tunnel within 10 seconds" }));
    const aborting = new AbortController();
    const aborted = sessions.openTunnel("a", aborting.signal);
    aborting.abort();
    expect(await aborted).toMatchObject({ error: { kind: "refused" } });
  });

  it("is refused above the limit by both sides", async () => {
    const link = newLink();
    const { sessions } = link;
    link.start("a", {
      transport: { open: () => ok({ ...expectOk(link.connect({ cell: "c", cluster: "a", serial: "1" })), openTunnel: link.deafTunnel }) },
    });
    await link.clock.advance(0);
    const pending = Array.from({ length: LINK_LIMITS.tunnels }, () => sessions.openTunnel("a", never));
    expect(await sessions.openTunnel("a", never)).toEqual(err({ kind: "refused", message: "a has 256 tunnels, the limit" }));
    await link.clock.advance(LINK_TIMES.tunnelOpenMs);
    await Promise.all(pending);
    // the agent's 256 tunnels are still open
    const refused = sessions.openTunnel("a", never);
    await link.clock.advance(0);
    expect(await refused).toEqual(err({ kind: "refused", message: "the agent has 256 tunnels, the limit" }));
  });
});
