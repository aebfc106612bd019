/**
 * The link of a cell and of one agent in one process: the real sessions and the real agent, with streams and tunnels in memory. Every message of both
 * directions is counted before it arrives. The connection can be cut at any of them, and each side can be started again.
 */
import { err, MetricsRegistry, ok, seededRandom, sensitive, silentLogger, type Clock, type Result } from "#base";
import {
  AgentSessions,
  openTunnelConnections,
  serveTunnel,
  startAgentLink,
  type AgentChannel,
  type AgentLink,
  type AgentLinkOptions,
  type OpenTunnel,
  type TunnelFrames,
  type TunnelTarget,
} from "#link";
import { tunnelPair } from "../../../../test/builders/tunnel-frames.ts";
import { memoryStreams } from "../../memory-network.test-support.ts";
import type { PivotLink } from "./pivot-context.ts";

const [CELL, CLUSTER] = ["mgmt", "prod"];
const IDENTITY = { cell: CELL, cluster: CLUSTER, serial: "01" };

export type MatrixLinkOptions = Pick<AgentLinkOptions, "onPivot" | "report"> & {
  readonly clock: Clock;
  /** The API server of the child. */
  readonly target: TunnelTarget;
  /** With the kind of the message. */
  readonly onMessage: (kind: string) => void;
};

export class MatrixLink {
  readonly #options: MatrixLinkOptions;
  readonly #connections: ReturnType<typeof openTunnelConnections>;
  readonly #open = new Set<() => void>();
  #isReachable = true;
  #starts = 0;
  #sessions: AgentSessions;
  #agent: AgentLink;

  constructor(options: MatrixLinkOptions) {
    this.#options = options;
    this.#connections = openTunnelConnections(options.target);
    this.#sessions = this.#newSessions();
    this.#agent = this.#newAgent();
  }

  get isConnected(): boolean {
    return this.#sessions.agents().get(CLUSTER)?.connected === true && this.#agent.status().connected;
  }

  /** By the last report of the agent that this process of the cell has got; 0: none. */
  get reportedEpoch(): number {
    return this.#sessions.agents().get(CLUSTER)?.health?.ownershipEpoch ?? 0;
  }

  /** Of the process of the cell that runs now. */
  readonly ofCell: PivotLink = {
    agents: () => this.#sessions.agents(),
    send: (cluster, order, signal) => this.#sessions.send(cluster, order, signal),
  };

  readonly openTunnel: OpenTunnel = (name, signal) => this.#sessions.openTunnel(name, signal);

  /** Streams and tunnels end, and what is on its way is lost. */
  cut(): void {
    this.#isReachable = false;
    for (const end of this.#open) end();
  }

  /** The agent connects at once instead of after its delay. */
  restore(): void {
    if (this.#isReachable) return;
    this.#isReachable = true;
    this.#agent.credentialsChanged();
  }

  report(): void {
    if (this.isConnected) this.#agent.reportChanged();
  }

  restartCell(): void {
    const before = this.#sessions;
    this.#sessions = this.#newSessions();
    before.close();
  }

  async restartAgent(): Promise<void> {
    const before = this.#agent;
    for (const end of this.#open) end();
    this.#agent = this.#newAgent();
    await before.close();
  }

  async close(): Promise<void> {
    await this.#agent.close();
    this.#sessions.close();
    if (this.#connections.ok) this.#connections.value.close();
  }

  #newSessions(): AgentSessions {
    const { clock } = this.#options;
    const services = {
      cell: CELL,
      authenticate: () => ok(undefined),
      renew: () => Promise.resolve(err("not in this test")),
      clock,
      random: seededRandom((this.#starts += 1)),
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      version: "1",
    };
    return new AgentSessions(services, { firstMessageMs: 10_000, trustBundle: () => "" });
  }

  #newAgent(): AgentLink {
    const { clock, target, onPivot, report } = this.#options;
    const start = (this.#starts += 1);
    const { value: connections } = this.#connections.ok ? this.#connections : { value: undefined };
    if (connections === undefined) throw new Error("the child has no API server");
    return startAgentLink({
      endpoint: "127.0.0.1:1",
      cell: CELL,
      cluster: CLUSTER,
      credentials: () => ({ certificate: "PEM", key: sensitive("KEY"), trustBundle: "" }),
      renewal: { due: () => false, request: () => err("not in this test") },
      onRenewed: () => Promise.resolve(ok(undefined)),
      onTrustBundle: () => Promise.resolve(ok(undefined)),
      report,
      onBootstrap: () => Promise.resolve(ok([])),
      onReconcile: () => Promise.resolve(ok([])),
      onPivot,
      apiServer: target,
      serveTunnel: (frames) => serveTunnel(frames, target, { clock, logger: silentLogger, connections }),
      clock,
      random: seededRandom(start),
      logger: silentLogger,
      version: "1",
      generation: () => BigInt(start) * 1_000_000n,
      transport: { open: () => this.#connect() },
    });
  }

  #connect(): Result<AgentChannel, string> {
    if (!this.#isReachable) return err("connect ECONNREFUSED");
    const passes = (from: string) => (kind: string) => {
      this.#options.onMessage(`${from}: ${kind}`);
      return this.#isReachable;
    };
    const streams = memoryStreams(passes("agent"), passes("cell"));
    const end = () => {
      this.#open.delete(end);
      streams.cell.close({ kind: "gone", reason: "the connection is lost" });
    };
    this.#open.add(end);
    const admitted = this.#sessions.admit(IDENTITY);
    if (admitted.ok) this.#sessions.accept(streams.cell, admitted.value);
    else streams.cell.close(admitted.error);
    const sessions = this.#sessions;
    return ok({ control: streams.agent, openTunnel: (closed) => this.#tunnel(sessions, closed), close: () => {} });
  }

  /** As the cell's method Tunnel does: the first frame names the tunnel. */
  #tunnel(sessions: AgentSessions, closed: () => void): TunnelFrames {
    const { cell, agent } = tunnelPair();
    let isOpen = false;
    const release = () => {
      if (!this.#open.delete(end)) return;
      if (isOpen) sessions.tunnels.closed(CLUSTER);
      closed();
    };
    const end = () => {
      release();
      agent.cancel("the connection is lost");
    };
    this.#open.add(end);
    const atCell: TunnelFrames = {
      read: this.#counted(cell.read, "agent"),
      write: (frame) => this.#written(frame, "cell", cell),
      end: () => {
        release();
        cell.end();
      },
      cancel: (reason) => {
        release();
        cell.cancel(reason);
      },
    };
    const accept = async () => {
      const first = await atCell.read[Symbol.asyncIterator]().next();
      const frame = first.done === true ? undefined : first.value.frame;
      isOpen = frame?.case === "open" && sessions.tunnels.opened(CLUSTER, frame.value.tunnelId, atCell);
      if (!isOpen) end();
    };
    accept().catch(end);
    return agent;
  }

  async *#counted(frames: TunnelFrames["read"], from: string): TunnelFrames["read"] & AsyncGenerator<Frame> {
    for await (const frame of frames) {
      this.#options.onMessage(`${from}: tunnel ${frame.frame.case ?? ""}`);
      if (!this.#isReachable) throw new Error("the connection is lost");
      yield frame;
    }
  }

  #written(frame: Frame, from: string, frames: TunnelFrames): Promise<void> {
    this.#options.onMessage(`${from}: tunnel ${frame.frame.case ?? ""}`);
    return this.#isReachable ? frames.write(frame) : Promise.reject(new Error("the connection is lost"));
  }
}

type Frame = Parameters<TunnelFrames["write"]>[0];
