/**
 * Keeps an agent connected to its cell. Decisions about the connection are in connection-machine.ts; this class carries its effects out.
 *
 * Times are of the monotonic clock: a wall clock that is set back must not delay the next attempt. Nothing here can stop the child: whatever the cell does, the worst outcome is that the agent waits and connects again.
 */
import { create } from "@bufbuild/protobuf";
import { describeThrown, err, fromPromise, ok, withJitter, type Result } from "#base";
import type { AgentPayload } from "../protocol/agent-messages.ts";
import { parseCellCommand, type CellPayload, type WelcomeMessage } from "../protocol/cell-messages.ts";
import {
  connectionDue,
  NEW_CONNECTION,
  stepConnection,
  type ConnectionEffect,
  type ConnectionEvent,
} from "../protocol/connection-machine.ts";
import { encodeAgentPayload } from "../protocol/encode-messages.ts";
import { TunnelFrameSchema, type CellCommand } from "../protocol/generated/agent_pb.ts";
import { LINK_LIMITS, LINK_TIMES } from "../protocol/link-limits.ts";
import { PROTOCOL_VERSIONS } from "../protocol/protocol-version.ts";
import type { AgentChannel, AgentLink, AgentLinkOptions, AgentLinkStatus, OrderResult } from "./agent-types.ts";
import { CertificateRenewal } from "./certificate-renewal.ts";
import { grpcTransport } from "./grpc-transport.ts";
import { OrderRunner } from "./order-runner.ts";
import { ReportSource, reportText } from "./report-source.ts";

export function startAgentLink(options: AgentLinkOptions): AgentLink {
  const link = new RunningAgentLink(options);
  link.start();
  return link;
}

class RunningAgentLink implements AgentLink {
  readonly #options: AgentLinkOptions;
  readonly #reports: ReportSource;
  readonly #renewal: CertificateRenewal;
  readonly #orders: OrderRunner;
  readonly #channels = new Map<number, AgentChannel>();
  #state = NEW_CONNECTION;
  #generation = -1n;
  #tunnels = 0;
  #heartbeatMs: number = LINK_TIMES.heartbeatMs;
  #sentHealth = "";
  /** The ownership that the cell has been sent PivotComplete for, on this connection. */
  #announcedEpoch = 0;
  #connectedSince = 0;
  #lastCloseReason: string | undefined;
  #cancelTick = () => {};
  #cancelHeartbeat = () => {};

  constructor(options: AgentLinkOptions) {
    this.#options = options;
    this.#reports = new ReportSource({ read: () => options.report(), clock: options.clock, logger: options.logger });
    this.#renewal = new CertificateRenewal(options);
    this.#orders = new OrderRunner({
      bootstrap: (manifests) => options.onBootstrap(manifests),
      reconcile: () => options.onReconcile(),
      pivot: (pivot) => options.onPivot?.(pivot) ?? Promise.resolve(err("this agent cannot prepare its cluster for a pivot")),
      status: () => this.#sendStatus(),
      write: (payload) => this.#write(payload),
    });
  }

  start(): void {
    this.#dispatch({ kind: "start", now: this.#options.clock.monotonic() });
  }

  status(): AgentLinkStatus {
    const reason = this.#lastCloseReason === undefined ? {} : { lastCloseReason: this.#lastCloseReason };
    if (this.#state.phase !== "connected") return { connected: false, ...reason };
    return { connected: true, since: this.#connectedSince, protocol: this.#state.protocol, ...reason };
  }

  reportChanged(): void {
    void this.#sendChanges();
    this.#renewIfDue();
  }

  credentialsChanged(): void {
    this.#dispatch({ kind: "renewed", now: this.#options.clock.monotonic() });
  }

  close(): Promise<void> {
    this.#dispatch({ kind: "stop" });
    this.#cancelTick();
    this.#cancelHeartbeat();
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
    return Promise.resolve();
  }

  #dispatch(event: ConnectionEvent): void {
    const { state, effects } = stepConnection(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTick();
    const due = connectionDue(this.#state);
    if (due === undefined) return;
    const { clock, random } = this.#options;
    this.#cancelTick = clock.after(Math.max(0, due - clock.monotonic()), () =>
      this.#dispatch({ kind: "tick", now: clock.monotonic(), random: random() }),
    );
  }

  #perform(effect: ConnectionEffect): void {
    const { logger, cell, endpoint } = this.#options;
    switch (effect.kind) {
      case "open":
        return void this.#open(effect.connection);
      case "close":
        return this.#closeChannel(effect.connection, effect.reason);
      case "warn": {
        const { reason } = effect.close;
        return logger.warn("the parent cannot be reached; this cluster continues without it", {
          cell,
          endpoint,
          reason,
          retryMs: effect.retryMs,
        });
      }
      case "recovered":
        return logger.info("connected to the parent", { cell, endpoint });
    }
  }

  async #open(connection: number): Promise<void> {
    this.#cancelHeartbeat();
    const opened = (this.#options.transport ?? grpcTransport(this.#options)).open(this.#options.credentials());
    if (!opened.ok) return this.#ended(connection, { kind: "refused", reason: opened.error });
    const channel = opened.value;
    this.#channels.set(connection, channel);
    channel.control.listen({
      message: (message) => this.#received(connection, channel, message),
      ended: (close) => this.#ended(connection, close),
    });
    const report = await this.#reports.soon();
    if (this.#state.connection !== connection || this.#state.phase !== "connecting") return;
    const newest = this.#options.generation();
    this.#generation = newest > this.#generation ? newest : this.#generation + 1n;
    const { cluster, version: agentVersion, clock } = this.#options;
    const { kubernetesVersion } = report.health;
    const generation = this.#generation;
    const ready = {
      kind: "ready",
      agentVersion,
      kubernetesVersion,
      protocolVersions: PROTOCOL_VERSIONS,
      generation,
      state: report.state,
    } as const;
    channel.control.write(encodeAgentPayload(cluster, ready, clock.now()));
  }

  #ended(connection: number, close: Parameters<AgentChannel["control"]["close"]>[0]): void {
    this.#channels.get(connection)?.close();
    this.#channels.delete(connection);
    if (connection === this.#state.connection) {
      this.#lastCloseReason = close.reason;
      this.#cancelHeartbeat();
      this.#renewal.connectionEnded();
    }
    const { clock, random } = this.#options;
    this.#dispatch({ kind: "ended", connection, close, now: clock.monotonic(), random: random() });
  }

  #closeChannel(connection: number, reason: string): void {
    this.#channels.get(connection)?.control.close({ kind: "gone", reason });
  }

  #received(connection: number, channel: AgentChannel, message: Result<CellCommand, string>): void {
    const payload = message.ok ? parseCellCommand(message.value) : message;
    if (!payload.ok) return channel.control.close({ kind: "invalid", reason: payload.error });
    if (connection === this.#state.connection) this.#handle(connection, channel, payload.value);
  }

  #handle(connection: number, channel: AgentChannel, payload: CellPayload): void {
    switch (payload.kind) {
      case "welcome":
        return this.#welcomed(connection, payload);
      case "order":
        return void this.#orders.run(payload.id, payload.order);
      case "tunnel":
        return void this.#serveTunnel(channel, payload.id);
      case "renewal-response":
        return void this.#renewed(payload);
      case "unknown":
        if (payload.id !== "") this.#refuse(payload.id, "this version of the agent does not have the command; update it");
        return;
      case "resource-batch":
      case "batch-ack":
        return; // objects of a pivot come through tunnels
    }
  }

  #welcomed(connection: number, { protocol, heartbeatMs, trustBundle }: WelcomeMessage): void {
    void this.#renewal.trustBundle(trustBundle);
    const wasConnected = this.#state.phase === "connected";
    this.#heartbeatMs = heartbeatMs;
    this.#dispatch({ kind: "welcome", connection, protocol, now: this.#options.clock.monotonic() });
    if (wasConnected || this.#state.phase !== "connected") return;
    this.#connectedSince = this.#options.clock.now();
    this.#sentHealth = "";
    this.#announcedEpoch = 0;
    this.#beat();
  }

  /** A heartbeat at once with what is known; the report behind it may take its time. */
  #beat(): void {
    const { clock, random } = this.#options;
    this.#cancelHeartbeat();
    this.#cancelHeartbeat = clock.after(withJitter(this.#heartbeatMs, random), () => this.#beat());
    this.#write({ kind: "heartbeat", state: this.#reports.latest.state });
    void this.#sendChanges();
    this.#renewIfDue();
  }

  #renewIfDue(): void {
    const csr = this.#state.phase === "connected" ? this.#renewal.requestIfDue() : undefined;
    if (csr !== undefined) this.#write({ kind: "renewal-request", csr });
  }

  async #sendChanges(): Promise<void> {
    const before = this.#reports.latest.state;
    const report = await this.#reports.refresh();
    if (this.#state.phase !== "connected") return;
    if (report.state !== before) this.#write({ kind: "heartbeat", state: report.state });
    if (reportText(report) !== this.#sentHealth) this.#sendHealth();
  }

  async #sendStatus(): Promise<OrderResult> {
    const report = await this.#reports.soon();
    this.#write({ kind: "heartbeat", state: report.state });
    this.#sendHealth();
    return ok([]);
  }

  #sendHealth(): void {
    const report = this.#reports.latest;
    this.#sentHealth = reportText(report);
    this.#write({ kind: "health", health: report.health });
    const { ownershipEpoch = 0 } = report.health;
    if (ownershipEpoch > this.#announcedEpoch) this.#write({ kind: "pivot-complete", success: true, error: "" });
    this.#announcedEpoch = ownershipEpoch;
  }

  async #renewed(answer: Extract<CellPayload, { kind: "renewal-response" }>): Promise<void> {
    if (await this.#renewal.answered(answer)) this.#dispatch({ kind: "renewed", now: this.#options.clock.monotonic() });
  }

  async #serveTunnel(channel: AgentChannel, id: string): Promise<void> {
    if (this.#tunnels >= LINK_LIMITS.tunnels) return this.#refuse(id, `the agent has ${LINK_LIMITS.tunnels} tunnels, the limit`);
    this.#tunnels += 1;
    const frames = channel.openTunnel(() => (this.#tunnels -= 1));
    await frames.write(create(TunnelFrameSchema, { frame: { case: "open", value: { tunnelId: id } } }));
    const served = await fromPromise(this.#options.serveTunnel(frames, this.#options.apiServer), describeThrown);
    if (served.ok) return frames.end();
    this.#options.logger.warn("a tunnel failed", { error: served.error });
    frames.cancel("the tunnel failed");
  }

  #refuse(id: string, error: string): void {
    this.#write({ kind: "command-ack", id, success: false, error, effects: [] });
  }

  /** Before the Welcome nothing but AgentReady may be sent. An acknowledgement is not lost by that: the cell repeats its command. */
  #write(payload: AgentPayload): void {
    const control = this.#channels.get(this.#state.connection)?.control;
    if (control === undefined || this.#state.phase !== "connected") return;
    if (control.queued() >= LINK_LIMITS.queuedMessages) return control.close({ kind: "busy", reason: "the cell does not read" });
    control.write(encodeAgentPayload(this.#options.cluster, payload, this.#options.clock.now()));
  }
}
