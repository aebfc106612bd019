/**
 * The connection of an agent to its cell, as a function of state and event. Every connection has a number; events of an older connection change nothing.
 *
 * A lost parent is no fault of the child: after one warning there is one per hour, and no other effect than the next attempt.
 */
import { LINK_TIMES } from "./link-limits.ts";
import type { StreamClose } from "./message-stream.ts";

type Attempts = {
  /** The number of the newest connection. */
  readonly connection: number;
  /** Attempts without a stable connection since. */
  readonly failures: number;
  /** Of the warning about the lost parent; undefined while none is due to be repeated. */
  readonly warnedAt?: number;
};

export type ConnectionState = Attempts &
  (
    | { readonly phase: "stopped" }
    | { readonly phase: "waiting"; readonly until: number }
    | { readonly phase: "connecting"; readonly deadline: number }
    | { readonly phase: "connected"; readonly since: number; readonly protocol: number }
  );

export type ConnectionEvent =
  | { readonly kind: "start"; readonly now: number }
  /** The timer fired, or the time may have come. */
  | { readonly kind: "tick"; readonly now: number; readonly random: number }
  | { readonly kind: "welcome"; readonly connection: number; readonly protocol: number; readonly now: number }
  | { readonly kind: "ended"; readonly connection: number; readonly close: StreamClose; readonly now: number; readonly random: number }
  /** There is a new certificate: a new connection uses it, without the wait for the next attempt. */
  | { readonly kind: "renewed"; readonly now: number }
  | { readonly kind: "stop" };

export type ConnectionEffect =
  | { readonly kind: "open"; readonly connection: number }
  | { readonly kind: "close"; readonly connection: number; readonly reason: string }
  | { readonly kind: "warn"; readonly close: StreamClose; readonly retryMs: number }
  | { readonly kind: "recovered" };

export type ConnectionStep = { readonly state: ConnectionState; readonly effects: readonly ConnectionEffect[] };

export const NEW_CONNECTION: ConnectionState = { phase: "stopped", connection: 0, failures: 0 };

export function stepConnection(state: ConnectionState, event: ConnectionEvent): ConnectionStep {
  switch (event.kind) {
    case "start":
      return state.phase === "stopped" ? open(state, event.now) : unchanged(state);
    case "tick":
      return onTick(state, event.now, event.random);
    case "welcome":
      return onWelcome(state, event);
    case "ended":
      if (event.connection !== state.connection) return unchanged(state);
      return state.phase === "connecting" || state.phase === "connected" ? lost(state, event) : unchanged(state);
    case "renewed": {
      if (state.phase === "waiting") return open(state, event.now);
      if (state.phase !== "connected") return unchanged(state);
      const { state: next, effects } = open(state, event.now);
      return { state: next, effects: [...effects, { kind: "close", connection: state.connection, reason: "the certificate was renewed" }] };
    }
    case "stop": {
      const isOpen = state.phase === "connecting" || state.phase === "connected";
      const effects = isOpen ? [{ kind: "close", connection: state.connection, reason: "the agent stops" } as const] : [];
      return { state: { ...attemptsOf(state), phase: "stopped" }, effects };
    }
  }
}

/** When the next tick is due. */
export function connectionDue(state: ConnectionState): number | undefined {
  switch (state.phase) {
    case "waiting":
      return state.until;
    case "connecting":
      return state.deadline;
    case "connected":
      return isSettled(state) ? undefined : state.since + LINK_TIMES.stableMs;
    case "stopped":
      return undefined;
  }
}

function onTick(state: ConnectionState, now: number, random: number): ConnectionStep {
  const due = connectionDue(state);
  if (due === undefined || now < due) return unchanged(state);
  switch (state.phase) {
    case "waiting":
      return open(state, now);
    case "connecting": {
      const close: StreamClose = { kind: "late", reason: `the cell sent no Welcome within ${LINK_TIMES.welcomeMs / 1_000} seconds` };
      const { state: next, effects } = lost(state, { close, now, random });
      return { state: next, effects: [{ kind: "close", connection: state.connection, reason: close.reason }, ...effects] };
    }
    case "connected": {
      const { warnedAt: _warnedAt, ...rest } = state;
      return { state: { ...rest, failures: 0 }, effects: [] };
    }
    case "stopped":
      return unchanged(state);
  }
}

type Welcomed = { readonly connection: number; readonly protocol: number; readonly now: number };

function onWelcome(state: ConnectionState, { connection, protocol, now }: Welcomed): ConnectionStep {
  if (connection !== state.connection || state.phase !== "connecting") return unchanged(state);
  const isFirst = state.connection === 1;
  const effects = isFirst || state.warnedAt !== undefined ? [{ kind: "recovered" } as const] : [];
  return { state: { ...attemptsOf(state), phase: "connected", since: now, protocol }, effects };
}

type Lost = { readonly close: StreamClose; readonly now: number; readonly random: number };

function lost(state: ConnectionState, { close, now, random }: Lost): ConnectionStep {
  const wasStable = state.phase === "connected" && now - state.since >= LINK_TIMES.stableMs;
  const failures = wasStable ? 1 : state.failures + 1;
  const retryMs = reconnectDelay(failures, random);
  const warnedAt = wasStable ? undefined : state.warnedAt;
  const isWarningDue = warnedAt === undefined || now - warnedAt >= LINK_TIMES.warnEveryMs;
  const next: ConnectionState = {
    phase: "waiting",
    until: now + retryMs,
    connection: state.connection,
    failures,
    warnedAt: isWarningDue ? now : warnedAt,
  };
  return { state: next, effects: isWarningDue ? [{ kind: "warn", close, retryMs }] : [] };
}

/** Full jitter: anywhere up to the ceiling, so that thousands of agents do not return at once; never below the shortest delay. */
export function reconnectDelay(failures: number, random: number): number {
  const { reconnectMinMs, reconnectMaxMs } = LINK_TIMES;
  const ceiling = Math.min(reconnectMaxMs, reconnectMinMs * 2 ** Math.min(failures, 16));
  return Math.round(reconnectMinMs + (ceiling - reconnectMinMs) * random);
}

function open(state: ConnectionState, now: number): ConnectionStep {
  const connection = state.connection + 1;
  const next: ConnectionState = { ...attemptsOf(state), connection, phase: "connecting", deadline: now + LINK_TIMES.welcomeMs };
  return { state: next, effects: [{ kind: "open", connection }] };
}

function isSettled(state: ConnectionState): boolean {
  return state.failures === 0 && state.warnedAt === undefined;
}

function attemptsOf({ connection, failures, warnedAt }: ConnectionState): Attempts {
  return { connection, failures, ...(warnedAt === undefined ? {} : { warnedAt }) };
}

function unchanged(state: ConnectionState): ConnectionStep {
  return { state, effects: [] };
}
