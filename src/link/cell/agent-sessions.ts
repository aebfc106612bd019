/**
 * The agents of a cell: one session each, commands, tunnels and renewals. It has streams, not sockets.
 *
 * All decisions about a session are in session-machine.ts; this class carries its effects out.
 */
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import type { AgentMessage, CellCommand } from "../protocol/generated/agent_pb.ts";
import { parseAgentMessage } from "../protocol/agent-messages.ts";
import type { CellOrder, CellPayload } from "../protocol/cell-messages.ts";
import { encodeCellPayload } from "../protocol/encode-messages.ts";
import { LINK_LIMITS, LINK_TIMES } from "../protocol/link-limits.ts";
import type { MessageStream, StreamClose } from "../protocol/message-stream.ts";
import { NEW_SESSION, stepSession, type SessionEffect, type SessionEvent, type SessionState } from "../protocol/session-machine.ts";
import type { OpenTunnel } from "../tunnel/tunnel-types.ts";
import { agentView } from "./agent-view.ts";
import type { AgentView, CommandResult, LinkError, LinkIdentity, SessionServices } from "./cell-types.ts";
import { eachInTurns } from "./event-loop-turns.ts";
import { PendingCommands } from "./pending-commands.ts";
import { PendingTunnels } from "./pending-tunnels.ts";

type ControlStream = MessageStream<AgentMessage, CellCommand>;
type Session = { state: SessionState; readonly commands: PendingCommands; isRenewing: boolean; isBootstrapping: boolean };
type SessionTimes = { readonly firstMessageMs: number; trustBundle(): string };

/** Messages have fields beside the objects or manifests in them. */
const LARGEST_ORDER = LINK_LIMITS.messageBytes - 64 * 1024;
const CHECK_MS = 5_000;
const STOPPED: StreamClose = { kind: "gone", reason: "the cell stops" };
/** In each turn of the event loop. */
const CLOSING_MS = 10;

export class AgentSessions {
  readonly #services: SessionServices;
  readonly #times: SessionTimes;
  readonly #sessions = new Map<string, Session>();
  readonly #views = new Map<string, AgentView>();
  readonly #streams = new Map<number, ControlStream>();
  readonly #listeners = new Set<(cluster: string) => void>();
  readonly #idPrefix: string;
  readonly tunnels: PendingTunnels;
  /** Never aborted. */
  readonly #live = new AbortController().signal;
  #nextId = 0;
  #connected = 0;
  #cancelCheck: () => void;
  #isClosed = false;

  constructor(services: SessionServices, times: SessionTimes) {
    this.#services = services;
    this.#times = times;
    this.tunnels = new PendingTunnels(services.clock);
    // agents remember ids: those of a cell that was started again must differ
    this.#idPrefix = `${services.clock.now().toString(36)}-${Math.floor(services.random() * 2 ** 32).toString(36)}`;
    this.#cancelCheck = services.clock.after(CHECK_MS, () => this.#check());
  }

  agents(): ReadonlyMap<string, AgentView> {
    return this.#views;
  }

  subscribe(listener: (cluster: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the owner of a certificate may open a stream. */
  admit(identity: LinkIdentity): Result<LinkIdentity, StreamClose> {
    const { cell } = this.#services;
    if (this.#isClosed) return err(STOPPED);
    if (identity.cell !== cell)
      return err({ kind: "refused", reason: `the certificate is of cell "${identity.cell}"; this is cell "${cell}"` });
    const allowed = this.#services.authenticate(identity);
    return allowed.ok ? ok(identity) : err({ kind: "refused", reason: allowed.error });
  }

  /** A stream of an admitted agent. */
  accept(stream: ControlStream, { cluster }: LinkIdentity): void {
    const { clock } = this.#services;
    const id = (this.#nextId += 1);
    this.#streams.set(id, stream);
    const seconds = this.#times.firstMessageMs / 1_000;
    const cancel = clock.after(this.#times.firstMessageMs, () => {
      stream.close({ kind: "late", reason: `the agent sent no AgentReady within ${seconds} seconds` });
    });
    stream.listen({
      message: (message) => {
        cancel();
        if (this.#isClosed) return;
        const payload = message.ok ? parseAgentMessage(message.value, cluster) : message;
        const now = clock.monotonic();
        if (payload.ok) this.#step(cluster, { kind: "message", stream: id, payload: payload.value, now, wall: clock.now() });
        else this.#step(cluster, { kind: "invalid", stream: id, reason: payload.error, now });
      },
      ended: ({ reason }) => {
        cancel();
        this.#streams.delete(id);
        if (this.#sessions.has(cluster)) this.#step(cluster, { kind: "ended", stream: id, reason, now: clock.monotonic() });
      },
    });
  }

  send(cluster: string, order: CellOrder, signal: AbortSignal): Promise<Result<CommandResult, LinkError>> {
    const refused = (kind: LinkError["kind"], message: string) => Promise.resolve(err({ kind, message }));
    if (signal.aborted) return refused("aborted", "the command was aborted");
    if (sizeOf(order) > LARGEST_ORDER) return refused("too-large", `a command has at most ${LARGEST_ORDER} bytes`);
    const session = this.#sessions.get(cluster);
    if (session?.state.phase !== "connected") return refused("not-connected", `${cluster} is not connected`);
    if (session.commands.isFull) return refused("busy", `${cluster} has ${LINK_LIMITS.pendingCommands} commands without an answer`);
    const id = this.#newId();
    const settled = session.commands.add(id, order, signal);
    this.#write(session.state.stream, { kind: "order", id, order });
    return settled;
  }

  readonly openTunnel: OpenTunnel = (cluster, signal) => {
    const id = this.#newId();
    return this.tunnels.open(cluster, id, signal, () => {
      const state = this.#sessions.get(cluster)?.state;
      if (state?.phase !== "connected") return false;
      this.#write(state.stream, { kind: "tunnel", id });
      return true;
    });
  };

  disconnect(cluster: string, reason: string): void {
    if (this.#sessions.has(cluster)) this.#step(cluster, { kind: "disconnect", reason, now: this.#services.clock.monotonic() });
  }

  forget(cluster: string, reason: string): void {
    this.disconnect(cluster, reason);
    this.#sessions.get(cluster)?.commands.close(reason);
    this.#sessions.delete(cluster);
    this.#views.delete(cluster);
  }

  /** Sends the current trust bundle to all connected agents. */
  welcomeAgain(): void {
    for (const { state } of this.#sessions.values()) {
      if (state.phase === "connected") this.#welcome(state.stream, state.protocol);
    }
  }

  /** Calls back when a first message is late; the returned function cancels. */
  afterFirstMessage(late: () => void): () => void {
    return this.#services.clock.after(this.#times.firstMessageMs, late);
  }

  #newId(): string {
    this.#nextId += 1;
    return `${this.#idPrefix}-${this.#nextId.toString(36)}`;
  }

  /** At once: no agent is admitted, no message is handled, commands and tunnels end. Then every agent gets the reason, a part of them in each turn. */
  async drain(): Promise<void> {
    this.#stop();
    const { clock } = this.#services;
    await eachInTurns(this.#streams.values(), { clock, ms: CLOSING_MS }, (stream) => stream.close(STOPPED));
  }

  close(): void {
    this.#stop();
    for (const stream of this.#streams.values()) stream.close(STOPPED);
  }

  #stop(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelCheck();
    this.tunnels.cancel(STOPPED.reason);
    for (const { commands } of this.#sessions.values()) commands.close(STOPPED.reason);
    this.#listeners.clear();
  }

  #check(): void {
    const now = this.#services.clock.monotonic();
    for (const cluster of this.#sessions.keys()) this.#step(cluster, { kind: "check", now });
    this.#cancelCheck = this.#services.clock.after(CHECK_MS, () => this.#check());
  }

  #step(cluster: string, event: SessionEvent): void {
    const session = this.#sessions.get(cluster) ?? {
      state: NEW_SESSION,
      commands: new PendingCommands(this.#services.clock),
      isRenewing: false,
      isBootstrapping: false,
    };
    const { state, effects } = stepSession(session.state, event);
    // a stream that is refused before its first AgentReady leaves no session
    if (state !== NEW_SESSION) this.#sessions.set(cluster, session);
    if (state !== session.state) this.#views.set(cluster, agentView(cluster, state));
    this.#connected += Number(state.phase === "connected") - Number(session.state.phase === "connected");
    const isLost = session.state.phase === "connected" && state.phase === "disconnected";
    if (isLost) this.tunnels.cancel(`${cluster} is not connected`, cluster);
    session.state = state;
    for (const effect of effects) this.#perform(cluster, session, effect);
  }

  #perform(cluster: string, session: Session, effect: SessionEffect): void {
    switch (effect.kind) {
      case "close":
        this.#services.logger.info("agent stream closed", { cluster, kind: effect.close.kind, reason: effect.close.reason });
        this.#services.metrics
          .counter("lattice_link_closed_total", "Streams that the cell closed, by kind.")
          .add(1, { kind: effect.close.kind });
        this.#streams.get(effect.stream)?.close(effect.close);
        return;
      case "welcome":
        this.#services.logger.info("agent connected", { cluster, agentVersion: session.state.agentVersion });
        this.#welcome(effect.stream, effect.protocol);
        for (const payload of session.commands.payloads()) this.#write(effect.stream, payload);
        return;
      case "bootstrap":
        return void this.#bootstrap(cluster, session);
      case "acknowledged":
        if (!effect.ack.success) this.tunnels.refused(cluster, effect.ack.id, effect.ack.error);
        return session.commands.acknowledged(effect.ack);
      case "renew":
        return void this.#renew(cluster, session, effect);
      case "changed":
        this.#services.metrics.gauge("lattice_link_agents_connected", "Agents with a stream.").set(this.#connected);
        for (const listener of this.#listeners) listener(cluster);
    }
  }

  #welcome(stream: number, protocol: number): void {
    const { version } = this.#services;
    const trustBundle = this.#times.trustBundle();
    this.#write(stream, { kind: "welcome", protocol, cellVersion: version, heartbeatMs: LINK_TIMES.heartbeatMs, trustBundle });
  }

  /** Empty: a child got its manifests when it registered. One that is not acknowledged is sent again by the session itself. */
  async #bootstrap(cluster: string, session: Session): Promise<void> {
    if (session.isBootstrapping) return;
    session.isBootstrapping = true;
    const sent = await this.send(cluster, { kind: "bootstrap", manifests: new Uint8Array() }, this.#live);
    session.isBootstrapping = false;
    if (!sent.ok && sent.error.kind === "failed")
      this.#services.logger.warn("bootstrap was refused", { cluster, reason: sent.error.message });
  }

  async #renew(cluster: string, session: Session, { stream, csr }: Extract<SessionEffect, { kind: "renew" }>): Promise<void> {
    const refused = (error: string): CellPayload => ({ kind: "renewal-response", certificate: "", trustBundle: "", error });
    if (session.isRenewing) return this.#write(stream, refused("a renewal of this agent is in progress"));
    session.isRenewing = true;
    const renewed = await fromPromise(this.#services.renew(cluster, csr), describeThrown);
    session.isRenewing = false;
    if (!renewed.ok) this.#services.logger.error("renewal failed", { cluster, error: renewed.error });
    const result = renewed.ok ? renewed.value : err("the cell could not sign the request");
    this.#write(stream, result.ok ? { kind: "renewal-response", ...result.value, error: "" } : refused(result.error));
  }

  #write(id: number, payload: CellPayload): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.queued() < LINK_LIMITS.queuedMessages) return stream.write(encodeCellPayload(payload));
    stream.close({ kind: "busy", reason: `the agent does not read: ${LINK_LIMITS.queuedMessages} messages are waiting` });
  }
}

function sizeOf(order: CellOrder): number {
  return order.kind === "bootstrap" ? order.manifests.byteLength : order.kind === "pivot" ? order.resources.byteLength : 0;
}
