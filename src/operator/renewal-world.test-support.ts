/**
 * A cell and agents in one process: the real authority, records and agent service on an embedded API server, connected by memory instead of sockets.
 *
 * The wall clock is faster than the timers, so that a year has few heartbeats. Certificates are verified as TLS would, at the time of each side's own
 * wall clock.
 */
import { randomBytes, X509Certificate } from "node:crypto";
import { createLogger, err, expectOk, MetricsRegistry, ok, reveal, seededRandom, sensitive, type Clock, type Result } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { Registrations } from "#http";
import { AgentSessions, type AgentChannel, type AgentCredentials, type AgentTransport } from "#link";
import { authoritiesToSecret, createCellAuthorities } from "#pki";
import { SettlingClock } from "../../test/builders/settling-clock.ts";
import type { AgentServiceShared } from "./agent/agent-service.ts";
import { agentAdmission } from "./cell/agent-admission.ts";
import { CELL_AUTHORITY_SECRET } from "./cell/authority-secret.ts";
import { CellCertificates } from "./cell/cell-certificates.ts";
import { cellSigner } from "./cell/cell-signer.ts";
import { memoryStreams, verifyCertificate } from "./memory-network.test-support.ts";
import { configureParent, WorldAgent } from "./world-agent.test-support.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const CELL = "mgmt";
const HOME = "lattice-system";
const START = Date.UTC(2026, 0, 1);

type Post = NonNullable<AgentServiceShared["post"]>;

/** `now` passes `factor` times as fast as the timers. */
export class FastClock extends SettlingClock {
  readonly #factor: number;
  #ahead = 0;

  constructor(factor: number) {
    super(START);
    this.#factor = factor;
  }

  override now(): number {
    return START + this.#ahead + Math.floor(super.monotonic() * this.#factor);
  }

  /** By the wall clock. */
  pass(ms: number): Promise<void> {
    return this.advance(ms / this.#factor);
  }

  /** The machine was off: no timer fired. */
  jump(ms: number): void {
    this.#ahead += ms;
  }
}

/** The same timers, and a wall clock that is wrong. */
export function skewed(clock: Clock, ms: number): Clock {
  return { now: () => clock.now() + ms, monotonic: () => clock.monotonic(), after: (after, run) => clock.after(after, run) };
}

export type LogLine = { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> };

export type RenewalWorldOptions = {
  /** Days per 40 seconds of timers. */
  readonly factor?: number;
  /** Before the start of the test. */
  readonly authorityAgeMs?: number;
  readonly cellSkewMs?: number;
};

export type StartOptions = { readonly skewMs?: number; readonly pollMs?: number };

/** What memory does instead of the network. */
export type Network = {
  isReachable(cluster: string): boolean;
  /** Called for each message of an agent; false: it is lost. */
  passes(cluster: string, kind: string): boolean;
  /** True: the parent has answered, and the answer is lost. */
  losesAnswer(cluster: string, path: string): boolean;
};

export class RenewalWorld {
  readonly clock: FastClock;
  readonly cellClock: Clock;
  readonly random = seededRandom(1);
  readonly lines: LogLine[] = [];
  readonly logger = createLogger((level, message, fields) => void this.lines.push({ level, message, fields }));
  network: Network = { isReachable: () => true, passes: () => true, losesAnswer: () => false };
  readonly agents = new Map<string, WorldAgent>();
  /** By path: how often agents asked the bootstrap port. */
  readonly posts: string[] = [];
  readonly cluster: EmbeddedCluster;
  readonly certificates: CellCertificates;
  registrations: Registrations;
  sessions: AgentSessions;

  private constructor(cluster: EmbeddedCluster, clock: FastClock, cellClock: Clock, certificates: CellCertificates) {
    this.cluster = cluster;
    this.clock = clock;
    this.cellClock = cellClock;
    this.certificates = certificates;
    this.registrations = this.#newRegistrations();
    this.sessions = this.#newSessions();
  }

  static async open({ factor = 480, authorityAgeMs, cellSkewMs = 0 }: RenewalWorldOptions = {}): Promise<RenewalWorld> {
    const clock = new FastClock(factor);
    const cellClock = skewed(clock, cellSkewMs);
    const cluster = await startEmbeddedCluster({ clock, objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
    if (authorityAgeMs !== undefined) {
      const data = reveal(authoritiesToSecret(expectOk(createCellAuthorities(CELL, cellClock.now() - authorityAgeMs))));
      await cluster.add({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: CELL_AUTHORITY_SECRET, namespace: HOME },
        type: "Opaque",
        data,
      });
    }
    const { signal } = new AbortController();
    const options = { client: cluster.client, home: HOME, cell: CELL, host: "127.0.0.1", clock: cellClock, signal };
    const world = new RenewalWorld(cluster, clock, cellClock, expectOk(await CellCertificates.open(options)));
    await world.registrations.open(signal);
    return world;
  }

  /** What the cell does every hour. */
  async refresh(): Promise<void> {
    if (expectOk(await this.certificates.refresh())) this.sessions.welcomeAgain();
  }

  /** Steps of a quarter of a day, or shorter; `check` runs after each. */
  async pass(ms: number, check: () => void = () => {}): Promise<void> {
    for (let left = ms; left > 0; left -= DAY / 4) {
      await this.clock.pass(Math.min(left, DAY / 4));
      await this.refresh();
      check();
    }
  }

  /** Until it holds. Timers fire, so it ends: after some days of the wall clock with an error. */
  async until(condition: () => boolean, limitMs = 30 * DAY): Promise<void> {
    const end = this.clock.now() + limitMs;
    while (!condition()) {
      if (this.clock.now() > end) throw new Error(`not reached; last lines: ${JSON.stringify(this.lines.slice(-5))}`);
      await this.clock.advance(1_000);
    }
  }

  isConnected(cluster: string): boolean {
    return this.sessions.agents().get(cluster)?.connected === true;
  }

  /** The token of the bootstrap data of its first node. */
  async newToken(cluster: string, reissue = false): Promise<string> {
    const access = await this.registrations.createAccess(cluster, { expiresAt: this.cellClock.now() + DAY, reissue });
    const { bootstrapToken } = expectOk(access);
    return bootstrapToken === undefined ? "" : reveal(bootstrapToken);
  }

  /** As the first node does it. */
  async register(cluster: string, token: string): Promise<void> {
    const csrToken = expectOk(await this.registrations.register(cluster, sensitive(token)));
    const parent = {
      cell: CELL,
      endpoint: "127.0.0.1:1",
      bootstrap: "https://127.0.0.1:1",
      trustBundle: this.certificates.trustBundle,
      csrToken,
    };
    const version = await configureParent(this.cluster.client, cluster, parent);
    this.agents.get(cluster)?.configured(version);
  }

  /** Registers the cluster and starts its agent. */
  async add(cluster: string, options: StartOptions = {}): Promise<WorldAgent> {
    await this.register(cluster, await this.newToken(cluster));
    return this.start(cluster, options);
  }

  start(cluster: string, { skewMs = 0, pollMs = 10_000 }: StartOptions = {}): WorldAgent {
    const clock = skewed(this.clock, skewMs);
    const [transport, post] = [this.transport(cluster, clock), this.post(clock)];
    const { client } = this.cluster;
    const agent = new WorldAgent({ cluster, client, clock, logger: this.logger, random: this.random, transport, post, pollMs });
    this.agents.set(cluster, agent);
    return agent;
  }

  /** The next process of the cell, on the same records. */
  async restartCell(): Promise<void> {
    this.sessions.close();
    await this.registrations.close();
    this.registrations = this.#newRegistrations();
    await this.registrations.open(new AbortController().signal);
    this.sessions = this.#newSessions();
  }

  transport(cluster: string, clock: Clock): AgentTransport {
    return {
      open: (credentials) => {
        const reached = this.#handshake(cluster, credentials.trustBundle, clock);
        if (!reached.ok) return reached;
        return ok(this.#connect(cluster, credentials));
      },
    };
  }

  readonly post =
    (clock: Clock): Post =>
    async ({ trustBundle }, { path, body, token }) => {
      const [, cluster = "", action = ""] = /^\/api\/clusters\/([^/]+)\/(csr|renew)$/.exec(path) ?? [];
      this.posts.push(`${action} ${cluster}`);
      const reached = this.#handshake(cluster, trustBundle, clock);
      if (!reached.ok) return err({ kind: "failed", message: reached.error });
      const { registrations } = this;
      const signing =
        action === "csr" && token !== undefined ? registrations.signFirst(cluster, body, token) : registrations.renewExpired(cluster, body);
      const answer = await signing;
      if (this.network.losesAnswer(cluster, action)) return err({ kind: "failed", message: "socket hang up" });
      // one answer for each failed authentication, as on the socket
      return answer.ok ? answer : err({ kind: answer.error.kind === "refused" ? "refused" : "failed", message: "authentication failed" });
    };

  async close(): Promise<void> {
    for (const agent of this.agents.values()) await agent.close();
    this.sessions.close();
    await this.registrations.close();
    await this.cluster.close();
  }

  #handshake(cluster: string, bundle: string, clock: Clock): Result<void, string> {
    if (!this.network.isReachable(cluster)) return err("connect ECONNREFUSED");
    return verifyCertificate(this.certificates.tls.certificate, bundle, clock.now());
  }

  #connect(cluster: string, { certificate }: AgentCredentials): AgentChannel {
    const streams = memoryStreams((kind) => this.network.passes(cluster, kind));
    const parsed = new X509Certificate(certificate);
    const verified = verifyCertificate(certificate, this.certificates.trustBundle, this.cellClock.now());
    const identity = verified.ok ? this.#admission().identify(parsed.raw) : verified;
    const admitted = identity.ok ? this.sessions.admit(identity.value) : err({ kind: "refused" as const, reason: identity.error });
    if (admitted.ok) this.sessions.accept(streams.cell, admitted.value);
    else streams.cell.close(admitted.error);
    return {
      control: streams.agent,
      openTunnel: () => {
        throw new Error("no tunnel in this test");
      },
      close: () => {},
    };
  }

  #admission() {
    return agentAdmission({ registrations: this.registrations, logger: this.logger });
  }

  #newRegistrations(): Registrations {
    return new Registrations({
      client: this.cluster.client,
      namespace: HOME,
      clock: this.cellClock,
      random: this.random,
      randomBytes,
      logger: this.logger,
      metrics: new MetricsRegistry(),
      signer: cellSigner({ authorities: () => this.certificates.authorities, clock: this.cellClock }),
      manifests: (_cluster, csrToken) => Promise.resolve(ok(csrToken)),
    });
  }

  #newSessions(): AgentSessions {
    const { authenticate, renew } = this.#admission();
    const metrics = new MetricsRegistry();
    const services = {
      cell: CELL,
      authenticate,
      renew,
      clock: this.cellClock,
      random: this.random,
      logger: this.logger,
      metrics,
      version: "1",
    };
    return new AgentSessions(services, { firstMessageMs: 10_000, trustBundle: () => this.certificates.trustBundle });
  }
}
