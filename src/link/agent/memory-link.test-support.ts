/** A cell and agents in one process, on one FakeClock, connected by memory instead of sockets. */
import { createLogger, err, FakeClock, MetricsRegistry, ok, seededRandom, sensitive, type LogLevel, type Result } from "#base";
import { AgentSessions } from "../cell/agent-sessions.ts";
import type { LinkIdentity, RenewedCertificate } from "../cell/cell-types.ts";
import type { AgentMessage, CellCommand } from "../protocol/generated/agent_pb.ts";
import type { MessageStream } from "../protocol/message-stream.ts";
import type { TunnelFrames } from "../tunnel/tunnel-types.ts";
import { memoryStreams } from "../protocol/memory-stream.test-support.ts";
import type { AgentChannel, AgentLink, AgentLinkOptions, AgentReport } from "./agent-types.ts";
import { startAgentLink } from "./start-agent-link.ts";

export const REPORT: AgentReport = {
  state: "Ready",
  health: {
    readyNodes: 2,
    totalNodes: 3,
    conditions: [],
    kubernetesVersion: "v1.35.0",
    pools: new Map([["workers", { desired: 2, ready: 1 }]]),
  },
};

export type LogLine = { readonly level: LogLevel; readonly message: string; readonly fields: Readonly<Record<string, unknown>> };

export class MemoryLink {
  readonly clock = new FakeClock();
  readonly random = seededRandom(1);
  readonly metrics = new MetricsRegistry();
  readonly logs: LogLine[] = [];
  readonly logger = createLogger((level, message, fields) => void this.logs.push({ level, message, fields }));
  readonly revoked = new Set<string>();
  readonly links: AgentLink[] = [];
  /** False: connecting fails. */
  reachable = true;
  /** The control streams of the agents, newest last. */
  readonly channels: AgentChannel[] = [];
  onAgentMessage: (message: AgentMessage) => void = () => {};
  readonly #cellStreams: MessageStream<AgentMessage, CellCommand>[] = [];
  trustBundle = "";
  renew: (cluster: string, csr: string) => Promise<Result<RenewedCertificate, string>> = () => Promise.resolve(err("not in this test"));
  sessions = this.#newSessions();

  /** The agents must connect again. */
  restartCell(): void {
    this.sessions.close();
    this.sessions = this.#newSessions();
  }

  start(cluster: string, options: Partial<AgentLinkOptions> = {}): AgentLink {
    const link = startAgentLink({
      endpoint: "cell:1",
      cell: "c",
      cluster,
      credentials: () => ({ certificate: "PEM", key: sensitive("KEY"), trustBundle: this.trustBundle }),
      renewal: { due: () => false, request: () => err("not in this test") },
      onRenewed: () => Promise.resolve(ok(undefined)),
      onTrustBundle: () => Promise.resolve(ok(undefined)),
      report: () => Promise.resolve(REPORT),
      onBootstrap: () => Promise.resolve(ok([])),
      onReconcile: () => Promise.resolve(ok(["Kustomization flux-system/apps"])),
      apiServer: { url: "https://127.0.0.1:6443", ca: "", authorization: () => Promise.resolve(undefined) },
      serveTunnel: () => Promise.resolve(),
      clock: this.clock,
      random: this.random,
      logger: this.logger,
      version: "1.0.0",
      generation: () => BigInt(this.clock.now()),
      transport: { open: () => this.connect({ cell: "c", cluster, serial: "01" }) },
      ...options,
    });
    this.links.push(link);
    return link;
  }

  connect(identity: LinkIdentity): Result<AgentChannel, string> {
    if (!this.reachable) return err("connect ECONNREFUSED");
    const streams = memoryStreams();
    const write = (message: AgentMessage) => {
      this.onAgentMessage(message);
      streams.agent.write(message);
    };
    const channel: AgentChannel = { control: { ...streams.agent, write }, openTunnel: this.deafTunnel, close: () => {} };
    this.#cellStreams.push(streams.cell);
    const admitted = this.sessions.admit(identity);
    if (admitted.ok) this.sessions.accept(streams.cell, identity);
    else streams.cell.close(admitted.error);
    this.channels.push(channel);
    return ok(channel);
  }

  /** The cell's half of the newest stream. */
  lastCellStream(): MessageStream<AgentMessage, CellCommand> {
    const last = this.#cellStreams.at(-1);
    if (last === undefined) throw new Error("no agent has connected");
    return last;
  }

  /** A channel on which nothing ever arrives. */
  silentChannel(): AgentChannel {
    return { control: memoryStreams().agent, openTunnel: this.deafTunnel, close: () => {} };
  }

  /** A tunnel that stays open and carries nothing. */
  readonly deafTunnel = (): TunnelFrames => ({
    read: { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) },
    write: () => new Promise(() => {}),
    end: () => {},
    cancel: () => {},
  });

  async close(): Promise<void> {
    for (const link of this.links) await link.close();
    this.sessions.close();
  }

  #newSessions(): AgentSessions {
    return new AgentSessions(
      {
        cell: "c",
        authenticate: ({ serial, cluster }) => (this.revoked.has(cluster) ? err(`the certificate ${serial} is revoked`) : ok(undefined)),
        renew: (cluster, csr) => this.renew(cluster, csr),
        clock: this.clock,
        random: this.random,
        logger: this.logger,
        metrics: this.metrics,
        version: "2.0.0",
      },
      { firstMessageMs: 10_000, trustBundle: () => this.trustBundle },
    );
  }
}
