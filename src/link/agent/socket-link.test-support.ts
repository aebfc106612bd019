/** A cell on a real socket, with a certificate authority of its own. The common name of a client certificate is `cell/cluster`. */
import { X509Certificate } from "node:crypto";
import { createLogger, err, expectOk, MetricsRegistry, ok, systemClock, type LogLevel, type Result } from "#base";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority, type KeyPairPem } from "#pki";
import type { CellLink, CellLinkOptions, LinkIdentity } from "../cell/cell-types.ts";
import { startCellLink } from "../cell/start-cell-link.ts";
import type { AgentCredentials, AgentLink, AgentLinkOptions } from "./agent-types.ts";
import { REPORT } from "./memory-link.test-support.ts";
import { startAgentLink } from "./start-agent-link.ts";

const DAY_MS = 86_400_000;
const dates = () => ({ notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + 300 * DAY_MS) });

export function newAuthority(commonName = "cell c"): CertificateAuthority {
  return expectOk(createCertificateAuthority({ commonName, ...dates(), notAfter: new Date(Date.now() + 3_000 * DAY_MS) }));
}

export function serving(authority: CertificateAuthority, names: readonly string[] = ["c.cell.lattice"]): KeyPairPem {
  const request = { commonName: "cell", usages: ["server"] as const, dnsNames: names, ipAddresses: ["127.0.0.1"], ...dates() };
  return expectOk(issueCertificate(authority, request));
}

export function clientCertificate(authority: CertificateAuthority, name: string): KeyPairPem {
  return expectOk(issueCertificate(authority, { commonName: name, usages: ["client"], ...dates() }));
}

export function identifyByName(der: Uint8Array): Result<LinkIdentity, string> {
  const certificate = new X509Certificate(der);
  const [, cell, cluster] = /^CN=([^/]*)\/(.*)$/m.exec(certificate.subject) ?? [];
  return cell === undefined || cluster === undefined ? err("it has no name") : ok({ cell, cluster, serial: certificate.serialNumber });
}

export class SocketLink {
  readonly authority = newAuthority();
  readonly metrics = new MetricsRegistry();
  readonly logs: { level: LogLevel; message: string; fields: unknown }[] = [];
  readonly logger = createLogger((level, message, fields) => void this.logs.push({ level, message, fields }));
  readonly revoked = new Set<string>();
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #changed = new Set<() => void>();
  #cell: CellLink | undefined;

  get cell(): CellLink {
    if (this.#cell === undefined) throw new Error("the cell is not started");
    return this.#cell;
  }

  async startCell(options: Partial<CellLinkOptions> = {}): Promise<CellLink> {
    const cell = expectOk(
      await startCellLink({
        host: "127.0.0.1",
        port: 0,
        tls: { ...serving(this.authority), trustBundle: this.authority.certificate },
        cell: "c",
        identify: identifyByName,
        authenticate: ({ cluster }) => (this.revoked.has(cluster) ? err("the certificate is revoked") : ok(undefined)),
        renew: () => Promise.resolve(err("not in this test")),
        clock: systemClock,
        random: Math.random,
        logger: this.logger,
        metrics: this.metrics,
        version: "2.0.0",
        ...options,
      }),
    );
    this.#closing.push(() => cell.close());
    cell.subscribe(() => {
      for (const check of this.#changed) check();
    });
    this.#cell = cell;
    return cell;
  }

  credentials(name: string, authority: CertificateAuthority = this.authority): AgentCredentials {
    return { ...clientCertificate(authority, name), trustBundle: this.authority.certificate };
  }

  startAgent(cluster: string, options: Partial<AgentLinkOptions> = {}): AgentLink {
    const credentials = this.credentials(`c/${cluster}`);
    const agent = startAgentLink({
      endpoint: `127.0.0.1:${this.cell.port}`,
      cell: "c",
      cluster,
      credentials: () => credentials,
      renewal: { due: () => false, request: () => err("not in this test") },
      onRenewed: () => Promise.resolve(ok(undefined)),
      onTrustBundle: () => Promise.resolve(ok(undefined)),
      report: () => Promise.resolve(REPORT),
      onBootstrap: () => Promise.resolve(ok([])),
      onReconcile: () => Promise.resolve(ok(["reconciled"])),
      apiServer: { url: "https://127.0.0.1:6443", ca: "", authorization: () => Promise.resolve(undefined) },
      serveTunnel: () => Promise.resolve(),
      clock: systemClock,
      random: Math.random,
      logger: this.logger,
      version: "1.0.0",
      generation: () => BigInt(Date.now()),
      ...options,
    });
    this.#closing.push(() => agent.close());
    return agent;
  }

  /** Resolves when the cell reports a change after which the condition holds. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#changed.delete(check);
        resolve();
      };
      this.#changed.add(check);
      check();
    });
  }

  async connected(cluster: string): Promise<void> {
    await this.until(() => this.cell.agents().get(cluster)?.connected === true);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.toReversed()) await close();
  }
}
