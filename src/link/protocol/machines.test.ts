import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentPayload } from "./agent-messages.ts";
import { CommandMemory } from "./command-memory.ts";
import {
  connectionDue,
  NEW_CONNECTION,
  reconnectDelay,
  stepConnection,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
} from "./connection-machine.ts";
import { LINK_TIMES } from "./link-limits.ts";
import { NEW_SESSION, stepSession, type SessionEffect, type SessionEvent, type SessionState } from "./session-machine.ts";

function ready(generation: bigint, protocolVersions: readonly number[] = [1]): AgentPayload {
  return { kind: "ready", agentVersion: "1", kubernetesVersion: "v1.35.0", protocolVersions, generation, state: "Ready" };
}

function message(stream: number, payload: AgentPayload, now = 0): SessionEvent {
  return { kind: "message", stream, payload, now, wall: now };
}

function runSession(events: readonly SessionEvent[]): { state: SessionState; effects: SessionEffect[] } {
  const effects: SessionEffect[] = [];
  let state = NEW_SESSION;
  for (const event of events) {
    const step = stepSession(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const health = { readyNodes: 1, totalNodes: 1, conditions: [], kubernetesVersion: "v1.36.0", pools: new Map() };

describe("stepSession", () => {
  it("welcomes the first stream", () => {
    const { state, effects } = runSession([message(1, ready(5n), 10)]);
    expect(state).toMatchObject({ phase: "connected", stream: 1, generation: 5n, connectedSince: 10, lastHeartbeat: 10, protocol: 1 });
    expect(effects).toEqual([{ kind: "welcome", stream: 1, protocol: 1 }, { kind: "bootstrap" }, { kind: "changed" }]);
  });

  it("asks for the bootstrap until it is complete", () => {
    const complete = [message(1, ready(5n)), message(1, { kind: "bootstrap-complete" })];
    expect(runSession([...complete, message(2, ready(6n))]).effects.filter(({ kind }) => kind === "bootstrap")).toEqual([
      { kind: "bootstrap" },
    ]);
  });

  it("reports a complete pivot as a change", () => {
    const { effects } = runSession([message(1, ready(5n)), message(1, { kind: "pivot-complete", success: true, error: "" })]);
    expect(effects.at(-1)).toEqual({ kind: "changed" });
  });

  it("replaces a stream by one of a newer generation", () => {
    const { state, effects } = runSession([message(1, ready(5n)), message(2, ready(6n))]);
    expect(state).toMatchObject({ stream: 2, generation: 6n });
    expect(effects).toContainEqual({ kind: "close", stream: 1, close: { kind: "stale", reason: "replaced by generation 6" } });
  });

  it.each([4n, 5n])("closes a stream of the stale generation %s", (generation) => {
    const { state, effects } = runSession([message(1, ready(5n)), message(2, ready(generation))]);
    expect(state).toMatchObject({ phase: "connected", stream: 1 });
    const reason = `generation ${generation} is stale: the cell has seen generation 5 of this cluster`;
    expect(effects.at(-1)).toEqual({ kind: "close", stream: 2, close: { kind: "stale", reason } });
  });

  it("fences an older generation shortly after the newer stream ended, and accepts it later", () => {
    const ended: SessionEvent[] = [message(1, ready(5n), 0), { kind: "ended", stream: 1, reason: "lost", now: 1_000 }];
    expect(runSession([...ended, message(2, ready(4n), 1_000 + LINK_TIMES.staleMs - 1)]).state.phase).toBe("disconnected");
    expect(runSession([...ended, message(2, ready(4n), 1_000 + LINK_TIMES.staleMs)]).state).toMatchObject({
      phase: "connected",
      stream: 2,
    });
  });

  it("refuses an agent without a common version", () => {
    const { effects } = runSession([message(1, ready(1n, [9]))]);
    expect(effects).toMatchObject([{ kind: "close", close: { kind: "refused" } }]);
  });

  it("closes a stream whose first message is not AgentReady, or that sends it twice", () => {
    expect(runSession([message(1, { kind: "heartbeat", state: "Ready" })]).effects).toMatchObject([
      { close: { reason: "the first message must be AgentReady" } },
    ]);
    expect(runSession([message(1, ready(1n)), message(1, ready(2n))]).state).toMatchObject({
      phase: "disconnected",
      lastCloseReason: "AgentReady was sent twice on one stream",
    });
  });

  it("closes a stream without heartbeats after 90 s", () => {
    const heartbeat = message(1, { kind: "heartbeat", state: "Ready" }, 30_000);
    const late = runSession([message(1, ready(1n)), heartbeat, { kind: "check", now: 120_000 }]);
    expect(late.state.phase).toBe("connected");
    const stale = runSession([message(1, ready(1n)), heartbeat, { kind: "check", now: 120_001 }]);
    expect(stale.state).toMatchObject({ phase: "disconnected", lastCloseReason: "no heartbeat for 90 seconds" });
  });

  it("reports a change only for values that a user sees", () => {
    const start = runSession([message(1, ready(1n))]).state;
    const effects = (payload: AgentPayload) => stepSession(start, message(1, payload)).effects;
    expect(effects({ kind: "heartbeat", state: "Ready" })).toEqual([]);
    expect(effects({ kind: "heartbeat", state: "Degraded" })).toEqual([{ kind: "changed" }]);
    expect(effects({ kind: "health", health })).toEqual([{ kind: "changed" }]);
    expect(effects({ kind: "bootstrap-complete" })).toEqual([{ kind: "changed" }]);
    expect(effects({ kind: "unknown" })).toEqual([]);
    expect(effects({ kind: "renewal-request", csr: "PEM" })).toEqual([{ kind: "renew", stream: 1, csr: "PEM" }]);
  });

  it("closes on an invalid message, on request, and ignores what is not current", () => {
    const connected = message(1, ready(1n));
    expect(runSession([connected, { kind: "invalid", stream: 1, reason: "bad", now: 1 }]).state).toMatchObject({ lastCloseReason: "bad" });
    expect(runSession([connected, { kind: "invalid", stream: 2, reason: "bad", now: 1 }]).state.phase).toBe("connected");
    expect(runSession([connected, { kind: "ended", stream: 2, reason: "bad", now: 1 }]).state.phase).toBe("connected");
    expect(runSession([connected, { kind: "disconnect", reason: "revoked", now: 1 }]).effects).toContainEqual({
      kind: "close",
      stream: 1,
      close: { kind: "refused", reason: "revoked" },
    });
    expect(runSession([{ kind: "disconnect", reason: "revoked", now: 1 }]).effects).toEqual([]);
  });

  it("never has an older generation replace a newer live stream, in any order of events", () => {
    const event = fc.record({
      stream: fc.integer({ min: 1, max: 4 }),
      payload: fc.oneof(
        fc.bigInt({ min: 0n, max: 6n }).map((generation) => ready(generation)),
        fc.constant<AgentPayload>({ kind: "heartbeat", state: "Ready" }),
        fc.constant<AgentPayload>({ kind: "health", health }),
      ),
      ends: fc.integer({ min: 0, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let state: SessionState = NEW_SESSION;
        let now = 0;
        for (const { stream, payload, ends } of events) {
          now += 100;
          const before = state;
          const step = stepSession(before, ends === 0 ? { kind: "ended", stream, reason: "lost", now } : message(stream, payload, now));
          state = step.state;
          if (before.phase === "connected" && state.phase === "connected" && before.stream !== state.stream) {
            expect(state.generation).toBeGreaterThan(before.generation);
            expect(step.effects).toContainEqual(expect.objectContaining({ kind: "close", stream: before.stream }));
          }
          // all of these events are within the fence
          expect(state.generation).toBeGreaterThanOrEqual(before.generation);
        }
      }),
    );
  });
});

function runConnection(events: readonly ConnectionEvent[], from: ConnectionState = NEW_CONNECTION) {
  const effects: ConnectionEffect[] = [];
  let state = from;
  for (const event of events) {
    const step = stepConnection(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const close = { kind: "gone", reason: "lost" } as const;
const start: ConnectionEvent = { kind: "start", now: 0 };
const welcome: ConnectionEvent = { kind: "welcome", connection: 1, protocol: 1, now: 0 };

function ended(connection: number, now: number): ConnectionEvent {
  return { kind: "ended", connection, close, now, random: 0 };
}

describe("stepConnection", () => {
  it("connects, and is settled after a minute", () => {
    const { state, effects } = runConnection([start, welcome]);
    expect(effects).toEqual([{ kind: "open", connection: 1 }, { kind: "recovered" }]);
    expect(connectionDue(state)).toBeUndefined();
  });

  it("waits longer after each failure, and starts over after a stable minute", () => {
    let state = runConnection([start]).state;
    let now = 0;
    const delays: number[] = [];
    for (let failure = 1; failure <= 8; failure += 1) {
      state = stepConnection(state, { kind: "ended", connection: failure, close, now, random: 1 }).state;
      const due = connectionDue(state) ?? 0;
      delays.push(due - now);
      now = due;
      state = stepConnection(state, { kind: "tick", now, random: 1 }).state;
    }
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    state = stepConnection(state, { kind: "welcome", connection: 9, protocol: 1, now }).state;
    expect(connectionDue(state)).toBe(now + LINK_TIMES.stableMs);
    const settled = runConnection([{ kind: "tick", now: now + LINK_TIMES.stableMs, random: 1 }], state).state;
    expect(settled).toMatchObject({ phase: "connected", failures: 0 });
    const lost = stepConnection(settled, { kind: "ended", connection: 9, close, now: now + 70_000, random: 1 }).state;
    expect(connectionDue(lost)).toBe(now + 70_000 + 2_000);
  });

  it("keeps every delay between one second and one minute", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        expect(reconnectDelay(failures, random)).toBeGreaterThanOrEqual(1_000);
        expect(reconnectDelay(failures, random)).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  it("warns once about a lost parent, and then once an hour", () => {
    let state = runConnection([start]).state;
    const warnings: number[] = [];
    for (let now = 0; now < 3 * LINK_TIMES.warnEveryMs;) {
      const step = stepConnection(state, { kind: "ended", connection: state.connection, close, now, random: 1 });
      if (step.effects.some(({ kind }) => kind === "warn")) warnings.push(now);
      now = connectionDue(step.state) ?? Number.POSITIVE_INFINITY;
      state = stepConnection(step.state, { kind: "tick", now, random: 1 }).state;
    }
    expect(warnings.map((at) => Math.floor(at / LINK_TIMES.warnEveryMs))).toEqual([0, 1, 2]);
  });

  it("does not warn again while a parent comes and goes within a minute", () => {
    const flapping = runConnection([
      start,
      ended(1, 0),
      { kind: "tick", now: 1_000, random: 0 },
      { kind: "welcome", connection: 2, protocol: 1, now: 1_000 },
      ended(2, 5_000),
    ]);
    expect(flapping.effects.filter(({ kind }) => kind === "warn")).toHaveLength(1);
    expect(flapping.effects.filter(({ kind }) => kind === "recovered")).toHaveLength(1);
  });

  it("gives up a connection without a Welcome", () => {
    const { state, effects } = runConnection([start, { kind: "tick", now: LINK_TIMES.welcomeMs, random: 0 }]);
    expect(state.phase).toBe("waiting");
    expect(effects).toContainEqual({ kind: "close", connection: 1, reason: "the cell sent no Welcome within 20 seconds" });
  });

  it("opens a new connection before it closes the old one, when the certificate was renewed", () => {
    const { state, effects } = runConnection([start, welcome, { kind: "renewed", now: 5 }, ended(1, 6)]);
    expect(state).toMatchObject({ phase: "connecting", connection: 2 });
    expect(effects.slice(-2)).toEqual([
      { kind: "open", connection: 2 },
      { kind: "close", connection: 1, reason: "the certificate was renewed" },
    ]);
  });

  it("does nothing after it has stopped", () => {
    const stopped = runConnection([start, { kind: "stop" }]);
    expect(stopped.effects.at(-1)).toEqual({ kind: "close", connection: 1, reason: "the agent stops" });
    const later: ConnectionEvent[] = [
      ended(1, 1),
      welcome,
      { kind: "renewed", now: 1 },
      { kind: "tick", now: 1e9, random: 1 },
      { kind: "stop" },
    ];
    expect(runConnection(later, stopped.state).effects).toEqual([]);
  });

  it("has at most one connection that is not closed, in any order of events", () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant("tick" as const), random: fc.double({ min: 0, max: 1, noNaN: true }) }),
      fc.record({ kind: fc.constant("welcome" as const), connection: fc.nat(5), protocol: fc.constant(1) }),
      fc.record({ kind: fc.constant("ended" as const), connection: fc.nat(5), close: fc.constant(close), random: fc.constant(0.5) }),
      fc.record({ kind: fc.constantFrom("start" as const, "renewed" as const, "stop" as const) }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(90_000)), { maxLength: 40 }), (events) => {
        const open = new Set<number>();
        let state: ConnectionState = NEW_CONNECTION;
        let now = 0;
        for (const [one, after] of events) {
          now += after;
          if (one.kind === "ended") open.delete(one.connection);
          const step = stepConnection(state, { ...one, now });
          state = step.state;
          for (const effect of step.effects) {
            if (effect.kind === "open") open.add(effect.connection);
            if (effect.kind === "close") open.delete(effect.connection);
          }
          expect(open.size).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe("CommandMemory", () => {
  const done = { success: true, error: "", effects: ["x"] };

  it("answers a repeated command with its result, and runs it once", () => {
    const memory = new CommandMemory();
    expect(memory.arrived("a")).toEqual({ kind: "run" });
    expect(memory.arrived("a")).toEqual({ kind: "wait" });
    const ack = { kind: "command-ack", id: "a", ...done };
    expect(memory.finished("a", done)).toEqual([ack, ack]);
    expect(memory.arrived("a")).toEqual({ kind: "answer", ack });
  });

  it("runs each id once, and remembers the newest results only, for any replay", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(7), fc.boolean()), { maxLength: 200 }), (steps) => {
        const memory = new CommandMemory(8);
        const ran = new Map<string, number>();
        for (const [number, finishes] of steps) {
          const id = `c${number}`;
          if (memory.arrived(id).kind === "run") ran.set(id, (ran.get(id) ?? 0) + 1);
          if (finishes) memory.finished(id, done);
          expect(memory.size).toBeLessThanOrEqual(8);
        }
        for (const times of ran.values()) expect(times).toBe(1);
      }),
    );
  });

  it("forgets the oldest result above its limit, and never a running command", () => {
    const memory = new CommandMemory(2);
    memory.arrived("running");
    for (const id of ["a", "b", "c"]) {
      memory.arrived(id);
      memory.finished(id, done);
    }
    expect(memory.size).toBe(2);
    expect(memory.arrived("running").kind).toBe("wait");
    expect(memory.arrived("c").kind).toBe("answer");
    expect(memory.arrived("a").kind).toBe("run");
  });
});
