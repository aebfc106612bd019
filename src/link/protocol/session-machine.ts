/**
 * The session of one agent on its cell, as a function of state and event. A session outlives its streams: it has at most one current stream, and
 * the highest generation fences older ones.
 *
 * The fence lasts as long as the current stream, and the time of stale heartbeats after it: an agent whose clock or counter was set back must be able
 * to return without a person.
 */
import type { AgentHealth, AgentPayload, AgentReadyMessage, CommandAckMessage } from "./agent-messages.ts";
import { LINK_TIMES } from "./link-limits.ts";
import type { StreamClose } from "./message-stream.ts";
import { negotiateVersion } from "./protocol-version.ts";
import type { AgentStateName } from "./agent-states.ts";

export type StreamId = number;

export type SessionFacts = {
  readonly state: AgentStateName;
  readonly agentVersion: string;
  readonly protocol: number;
  readonly kubernetesVersion: string;
  readonly bootstrapComplete: boolean;
  readonly health?: AgentHealth;
  readonly lastHeartbeat?: number;
  readonly lastCloseReason?: string;
};

export type SessionState =
  | ({ readonly phase: "disconnected"; readonly generation: bigint; readonly fencedUntil: number } & SessionFacts)
  | ({
      readonly phase: "connected";
      readonly generation: bigint;
      readonly stream: StreamId;
      readonly connectedSince: number;
      /** The time of the last heartbeat or of AgentReady, as `now` of the event. */
      readonly heardAt: number;
    } & SessionFacts);

/** `now` never decreases: a wall clock that is set forward must not make every agent stale. `wall` is for users. */
export type SessionEvent =
  | { readonly kind: "message"; readonly stream: StreamId; readonly payload: AgentPayload; readonly now: number; readonly wall: number }
  | { readonly kind: "invalid"; readonly stream: StreamId; readonly reason: string; readonly now: number }
  | { readonly kind: "ended"; readonly stream: StreamId; readonly reason: string; readonly now: number }
  | { readonly kind: "disconnect"; readonly reason: string; readonly now: number }
  | { readonly kind: "check"; readonly now: number };

export type SessionEffect =
  | { readonly kind: "close"; readonly stream: StreamId; readonly close: StreamClose }
  | { readonly kind: "welcome"; readonly stream: StreamId; readonly protocol: number }
  /** The agent has not completed its bootstrap, as far as this cell knows. */
  | { readonly kind: "bootstrap" }
  | { readonly kind: "acknowledged"; readonly ack: CommandAckMessage }
  | { readonly kind: "renew"; readonly stream: StreamId; readonly csr: string }
  /** A user-visible value changed. A heartbeat alone is none. */
  | { readonly kind: "changed" };

export type SessionStep = { readonly state: SessionState; readonly effects: readonly SessionEffect[] };

export const NEW_SESSION: SessionState = {
  phase: "disconnected",
  generation: -1n,
  fencedUntil: 0,
  state: "Unknown",
  agentVersion: "",
  protocol: 0,
  kubernetesVersion: "",
  bootstrapComplete: false,
};

export function stepSession(state: SessionState, event: SessionEvent): SessionStep {
  switch (event.kind) {
    case "message":
      return event.payload.kind === "ready" ? onReady(state, event.payload, event) : onMessage(state, event);
    case "invalid":
      return onInvalid(state, event);
    case "ended": {
      const current = currentOf(state, event.stream);
      if (current === undefined) return { state, effects: [] };
      return { state: disconnected(current, event.reason, event.now), effects: [{ kind: "changed" }] };
    }
    case "disconnect":
      return state.phase === "connected" ? drop(state, { kind: "refused", reason: event.reason }, event.now) : { state, effects: [] };
    case "check":
      if (state.phase !== "connected" || event.now - state.heardAt <= LINK_TIMES.staleMs) return { state, effects: [] };
      return drop(state, { kind: "late", reason: `no heartbeat for ${LINK_TIMES.staleMs / 1_000} seconds` }, event.now);
  }
}

type Connected = Extract<SessionState, { phase: "connected" }>;
type Sent = { readonly stream: StreamId; readonly now: number };
type Received = Sent & { readonly wall: number };

function onInvalid(state: SessionState, { stream, reason, now }: Sent & { readonly reason: string }): SessionStep {
  const current = currentOf(state, stream);
  const close: StreamClose = { kind: "invalid", reason };
  return current === undefined ? closeOnly(state, stream, close) : drop(current, close, now);
}

function onReady(state: SessionState, ready: AgentReadyMessage, { stream, now, wall }: Received): SessionStep {
  const current = currentOf(state, stream);
  if (current !== undefined) return drop(current, { kind: "invalid", reason: "AgentReady was sent twice on one stream" }, now);
  const isFenced = state.phase === "connected" || now < state.fencedUntil;
  if (isFenced && ready.generation <= state.generation) {
    const reason = `generation ${ready.generation} is stale: the cell has seen generation ${state.generation} of this cluster`;
    return closeOnly(state, stream, { kind: "stale", reason });
  }
  const version = negotiateVersion(ready.protocolVersions);
  if (!version.ok) return closeOnly(state, stream, { kind: "refused", reason: version.error });
  const next: SessionState = {
    phase: "connected",
    generation: ready.generation,
    stream,
    connectedSince: wall,
    heardAt: now,
    state: ready.state,
    agentVersion: ready.agentVersion,
    protocol: version.value,
    kubernetesVersion: ready.kubernetesVersion,
    bootstrapComplete: state.bootstrapComplete,
    lastHeartbeat: wall,
    ...(state.health === undefined ? {} : { health: state.health }),
    ...(state.lastCloseReason === undefined ? {} : { lastCloseReason: state.lastCloseReason }),
  };
  const replaced: readonly SessionEffect[] =
    state.phase === "connected"
      ? [{ kind: "close", stream: state.stream, close: { kind: "stale", reason: `replaced by generation ${ready.generation}` } }]
      : [];
  const bootstrap: readonly SessionEffect[] = state.bootstrapComplete ? [] : [{ kind: "bootstrap" }];
  return { state: next, effects: [...replaced, { kind: "welcome", stream, protocol: version.value }, ...bootstrap, { kind: "changed" }] };
}

function onMessage(from: SessionState, { stream, payload, now, wall }: Received & { readonly payload: AgentPayload }): SessionStep {
  const state = currentOf(from, stream);
  if (state === undefined) return closeOnly(from, stream, { kind: "invalid", reason: "the first message must be AgentReady" });
  switch (payload.kind) {
    case "heartbeat": {
      const next = { ...state, state: payload.state, heardAt: now, lastHeartbeat: wall };
      return { state: next, effects: payload.state === state.state ? [] : [{ kind: "changed" }] };
    }
    case "health": {
      const { health } = payload;
      const kubernetesVersion = health.kubernetesVersion === "" ? state.kubernetesVersion : health.kubernetesVersion;
      return { state: { ...state, health, kubernetesVersion }, effects: [{ kind: "changed" }] };
    }
    case "bootstrap-complete":
      return { state: { ...state, bootstrapComplete: true }, effects: state.bootstrapComplete ? [] : [{ kind: "changed" }] };
    case "command-ack":
      return { state, effects: [{ kind: "acknowledged", ack: payload }] };
    case "renewal-request":
      return { state, effects: [{ kind: "renew", stream, csr: payload.csr }] };
    case "pivot-complete":
      return { state, effects: [{ kind: "changed" }] };
    case "ready":
    case "batch-ack":
    case "resource-batch":
    case "unknown":
      return { state, effects: [] };
  }
}

function currentOf(state: SessionState, stream: StreamId): Connected | undefined {
  return state.phase === "connected" && state.stream === stream ? state : undefined;
}

function drop(state: Connected, close: StreamClose, now: number): SessionStep {
  const effects: readonly SessionEffect[] = [{ kind: "close", stream: state.stream, close }, { kind: "changed" }];
  return { state: disconnected(state, close.reason, now), effects };
}

function disconnected(from: Connected, reason: string, now: number): SessionState {
  const { phase: _phase, stream: _stream, connectedSince: _since, heardAt, ...facts } = from;
  return { ...facts, phase: "disconnected", fencedUntil: Math.max(heardAt, now) + LINK_TIMES.staleMs, lastCloseReason: reason };
}

function closeOnly(state: SessionState, stream: StreamId, close: StreamClose): SessionStep {
  return { state, effects: [{ kind: "close", stream, close }] };
}
