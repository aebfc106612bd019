/**
 * A cell on real sockets with the real authority and records, and agents that connect to it with mTLS. Its wall clock can be set, the system's cannot:
 * TLS verifies certificates at the real time.
 */
import { randomBytes } from "node:crypto";
import { createLogger, expectOk, MetricsRegistry, ok, reveal, sensitive, systemClock, type Clock } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { Registrations } from "#http";
import { secrets, type KubeObject } from "#kube";
import { authoritiesToSecret, createCellAuthorities, readAgentIdentity } from "#pki";
import { AgentCertificate, type AgentCertificateOptions } from "./agent/agent-certificate.ts";
import { parseParentConfig } from "./agent/parent-config.ts";
import { CELL_AUTHORITY_SECRET } from "./cell/authority-secret.ts";
import { CellCertificates } from "./cell/cell-certificates.ts";
import { startCellListeners, type CellListeners } from "./cell/cell-listeners.ts";
import { cellSigner } from "./cell/cell-signer.ts";
import type { LogLine } from "./renewal-world.test-support.ts";
import { configureParent, homeOf, WorldAgent } from "./world-agent.test-support.ts";

const HOME = "lattice-system";
export const SOCKET_CELL = "mgmt";
const { signal: never } = new AbortController();

export type SocketCellOptions = {
  /** Of the certificates of agents. */
  readonly lifeMs?: number;
  /** Of the wall clock of the cell, at the start. */
  readonly offsetMs?: number;
  /** At the start, by the wall clock of the cell. */
  readonly authorityAgeMs?: number;
};

export class SocketCell {
  readonly lines: LogLine[] = [];
  readonly #waiting = new Set<() => void>();
  readonly logger = createLogger((level, message, fields) => {
    this.lines.push({ level, message, fields });
    this.#changed();
  });
  readonly agents: WorldAgent[] = [];
  readonly cluster: EmbeddedCluster;
  readonly certificates: CellCertificates;
  readonly registrations: Registrations;
  readonly clock: Clock;
  readonly #offset: { ms: number };
  #listeners: CellListeners | undefined;
  #ports = { grpc: 0, bootstrap: 0, proxy: 0 };

  private constructor(parts: Pick<SocketCell, "cluster" | "certificates" | "clock">, offset: { ms: number }, lifeMs: number | undefined) {
    this.cluster = parts.cluster;
    this.certificates = parts.certificates;
    this.clock = parts.clock;
    this.#offset = offset;
    this.registrations = new Registrations({
      client: parts.cluster.client,
      namespace: HOME,
      clock: parts.clock,
      random: Math.random,
      randomBytes,
      logger: this.logger,
      metrics: new MetricsRegistry(),
      signer: cellSigner({ authorities: () => parts.certificates.authorities, clock: parts.clock, lifeMs }),
      manifests: (_cluster, csrToken) => Promise.resolve(ok(csrToken)),
    });
  }

  static async open({ lifeMs, offsetMs = 0, authorityAgeMs }: SocketCellOptions = {}): Promise<SocketCell> {
    const offset = { ms: offsetMs };
    const clock = { ...systemClock, now: () => systemClock.now() + offset.ms };
    const cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } }] });
    if (authorityAgeMs !== undefined) {
      const data = reveal(authoritiesToSecret(expectOk(createCellAuthorities(SOCKET_CELL, clock.now() - authorityAgeMs))));
      await cluster.add({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: CELL_AUTHORITY_SECRET, namespace: HOME },
        type: "Opaque",
        data,
      });
    }
    const options = { client: cluster.client, home: HOME, cell: SOCKET_CELL, host: "127.0.0.1", clock, signal: never };
    const certificates = expectOk(await CellCertificates.open(options));
    const cell = new SocketCell({ cluster, certificates, clock }, offset, lifeMs);
    await cell.registrations.open(never);
    return cell;
  }

  get listeners(): CellListeners {
    if (this.#listeners === undefined) throw new Error("the cell does not listen");
    return this.#listeners;
  }

  get bootstrapPort(): number {
    return this.#ports.bootstrap;
  }

  /** On the same ports as before. */
  async listen(): Promise<void> {
    const { logger, certificates, registrations, clock } = this;
    const metrics = new MetricsRegistry();
    const common = { cell: SOCKET_CELL, bind: "127.0.0.1", certificates, registrations, clock, random: Math.random, logger, metrics };
    const listeners = expectOk(await startCellListeners({ ...common, ports: this.#ports }));
    listeners.link.subscribe(() => this.#changed());
    this.#ports = { ...this.#ports, grpc: listeners.link.port, bootstrap: listeners.bootstrapPort };
    this.#listeners = listeners;
  }

  async stopListening(): Promise<void> {
    await this.#listeners?.close();
    this.#listeners = undefined;
  }

  /** Sets the wall clock, and does what the cell does every hour. */
  async setOffset(ms: number): Promise<void> {
    this.#offset.ms = ms;
    const changed = expectOk(await this.certificates.refresh());
    if (changed && this.#listeners !== undefined) expectOk(this.#listeners.reload());
  }

  isConnected(cluster: string): boolean {
    return this.#listeners?.link.agents().get(cluster)?.connected === true;
  }

  /** `bootstrapPort`: of a relay. */
  async register(cluster: string, bootstrapPort = this.#ports.bootstrap): Promise<void> {
    const access = expectOk(await this.registrations.createAccess(cluster, { expiresAt: this.clock.now() + 86_400_000 }));
    const csrToken = expectOk(await this.registrations.register(cluster, access.bootstrapToken ?? sensitive("")));
    const addresses = { endpoint: `127.0.0.1:${this.#ports.grpc}`, bootstrap: `https://127.0.0.1:${bootstrapPort}` };
    const parent = { cell: SOCKET_CELL, ...addresses, trustBundle: this.certificates.trustBundle, csrToken };
    await configureParent(this.cluster.client, cluster, parent);
  }

  /** The agent got its certificate and was connected once, at the present time of the cell. Without sockets: that time may be long ago. */
  async enroll(cluster: string, bootstrapPort?: number): Promise<void> {
    await this.register(cluster, bootstrapPort);
    const { client } = this.cluster;
    const post: AgentCertificateOptions["post"] = async (_options, { body, token = sensitive("") }) =>
      ok(expectOk(await this.registrations.signFirst(cluster, body, token)));
    const secret = expectOk(await client.get<KubeObject>(secrets, { namespace: homeOf(cluster), name: "lattice-parent-config" }));
    const parent = expectOk(parseParentConfig(secret));
    const opened = await AgentCertificate.open({ client, home: homeOf(cluster), cluster, parent, clock: this.clock, signal: never, post });
    const { serial, notBefore } = expectOk(readAgentIdentity(expectOk(opened).credentials.certificate));
    expectOk(await this.registrations.connected(cluster, serial, notBefore));
  }

  startAgent(cluster: string, clock: Clock = this.clock): WorldAgent {
    const agent = new WorldAgent({ cluster, client: this.cluster.client, clock, logger: this.logger, random: Math.random, pollMs: 100 });
    agent.uplink.subscribe(() => this.#changed());
    this.agents.push(agent);
    return agent;
  }

  /** Checked after each change of an agent and each line of the log. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.close()));
    await this.stopListening();
    await this.registrations.close();
    await this.cluster.close();
  }

  #changed(): void {
    for (const check of this.#waiting) check();
  }
}
