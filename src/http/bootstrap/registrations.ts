/**
 * The access of children to this cell: tokens, certificates, revocation. What the cluster controller, the link, the API proxy and the bootstrap server
 * share.
 *
 * Tokens are returned once, when they are made. A caller that lost them asks for others with `reissue`.
 */
import { err, map, ok, sensitive, type Result, type Sensitive } from "#base";
import { parseDnsLabel } from "#kube";
import { AccessRecords, type AccessError, type AccessRecordsOptions } from "./access-records.ts";
import {
  extendAccess,
  isAcceptedCertificate,
  mayRegister,
  mayRequestCertificate,
  newAccess,
  recordConnection,
  recordReport,
  reissueAccess,
  revokeAccess,
} from "./access-rules.ts";
import type { BootstrapReport, ClusterAccess } from "./cluster-access.ts";
import { Issuance, type IssuedAnswer } from "./issuance.ts";
import type { BootstrapManifests, CertificateSigner } from "./ports.ts";
import { clusterOfToken, createToken, csrTokenOf, hashOfToken, isToken, type RandomBytes } from "./tokens.ts";

export type RegistrationsOptions = AccessRecordsOptions & {
  readonly signer: CertificateSigner;
  readonly manifests: BootstrapManifests;
  readonly randomBytes: RandomBytes;
};

export type AccessRequest = {
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /**
   * Fresh tokens for an existing record: they were lost, or the cluster bootstraps again. Lifts a revocation. "bootstrap": the credential for the API proxy stays, which
   * Cluster API has.
   */
  readonly reissue?: boolean | "bootstrap";
};
/** No tokens: the record existed already. */
export type CreatedAccess = { readonly bootstrapToken?: Sensitive<string>; readonly proxyToken?: Sensitive<string> };

export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #records: AccessRecords;
  readonly #issuance: Issuance;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
    this.#records = new AccessRecords(options);
    this.#issuance = new Issuance({ ...options, records: this.#records });
  }

  /** Loads all records; true when they are in memory. Before that every client is refused. */
  open(signal: AbortSignal): Promise<boolean> {
    return this.#records.open(signal);
  }

  close(): Promise<void> {
    return this.#records.close();
  }

  async createAccess(cluster: string, { expiresAt, reissue = false }: AccessRequest): Promise<Result<CreatedAccess, AccessError>> {
    const name = parseDnsLabel(cluster);
    if (!name.ok) return err({ kind: "invalid-request", message: `name of the cluster: ${name.error}` });
    if (reissue === false && this.#records.get(cluster) !== undefined) return ok({});
    const tokens = this.#newTokens(cluster);
    const times = { now: this.#options.clock.now(), expiresAt: Math.floor(expiresAt) };
    const created = await this.#records.create(newAccess(cluster, tokens.hashes, times));
    if (!created.ok || created.value) return map(created, () => tokens.plain);
    if (reissue === false) return ok({});
    return this.#records.change(cluster, (access) => {
      const hashes = reissue === "bootstrap" ? { ...tokens.hashes, proxyHash: access.proxyHash } : tokens.hashes;
      return ok({ next: reissueAccess(access, hashes, times), value: tokens.plain });
    });
  }

  /** Another credential for the API proxy; nothing else changes. */
  reissueProxyToken(cluster: string): Promise<Result<Sensitive<string>, AccessError>> {
    const token = createToken(cluster, this.#options.randomBytes);
    return this.#records.change(cluster, (access) => ok({ next: { ...access, proxyHash: hashOfToken(token) }, value: token }));
  }

  /** The bootstrap token expires at this time, unless it does so later already. */
  extend(cluster: string, until: number): Promise<Result<void, AccessError>> {
    return this.#updateIfNew(cluster, (access) => extendAccess(access, Math.floor(until)));
  }

  /** All tokens and certificates of the cluster are refused from now on. Its connection is closed by the caller. */
  revoke(cluster: string): Promise<Result<void, AccessError>> {
    return this.#update(cluster, revokeAccess);
  }

  remove(cluster: string): Promise<Result<void, AccessError>> {
    return this.#records.remove(cluster);
  }

  /** An agent has connected: its tokens for the first certificate are closed. Writes only when that is news. */
  connected(cluster: string, serial: string, notBefore?: number): Promise<Result<void, AccessError>> {
    return this.#updateIfNew(cluster, (access) => recordConnection(access, { serial, notBefore }));
  }

  /**
   * For a certificate whose chain, dates and cluster are checked already. Answers from memory. `notBefore` (milliseconds since 1970): also accepts
   * certificates that a restored record lacks.
   */
  isAccepted(cluster: string, serial: string, notBefore?: number): boolean {
    const access = this.#records.get(cluster);
    return access !== undefined && isAcceptedCertificate(access, { serial, notBefore });
  }

  authenticateProxy(cluster: string, token: string): boolean {
    const access = this.#records.get(cluster);
    const isEqual = isToken(sensitive(token), access?.proxyHash);
    return isEqual && access?.revoked === false;
  }

  /** The cluster of a bootstrap token that is valid now. */
  authenticateBootstrap(token: Sensitive<string>): string | undefined {
    const access = this.#recordOf(token);
    const isEqual = isToken(token, access?.bootstrapHash);
    return isEqual && access !== undefined && mayRegister(access, this.#options.clock.now()) ? access.cluster : undefined;
  }

  authenticateCsr(token: Sensitive<string>): string | undefined {
    const access = this.#recordOf(token);
    const isEqual = isToken(token, access?.csrHash);
    return isEqual && access !== undefined && mayRequestCertificate(access, this.#options.clock.now()) ? access.cluster : undefined;
  }

  /** The manifests for the child; the same until its first CSR is signed. */
  register(cluster: string, token: Sensitive<string>): Promise<Result<string, AccessError>> {
    return this.#issuance.register(cluster, token);
  }

  signFirst(cluster: string, csr: string, token: Sensitive<string>): Promise<Result<IssuedAnswer, AccessError>> {
    return this.#issuance.signFirst(cluster, csr, token);
  }

  /** `request`: the body of a renewal that is signed with the key of an expired certificate. */
  renewExpired(cluster: string, request: string): Promise<Result<IssuedAnswer, AccessError>> {
    return this.#issuance.renewExpired(cluster, request);
  }

  /** For an agent that is connected, and thus authenticated by its certificate. */
  renewConnected(cluster: string, csr: string): Promise<Result<IssuedAnswer, AccessError>> {
    return this.#issuance.renewConnected(cluster, csr);
  }

  report(cluster: string, report: Omit<BootstrapReport, "at">): Promise<Result<BootstrapReport, AccessError>> {
    const now = this.#options.clock.now();
    const kept = { ...report, at: now };
    return this.#records.change(cluster, (access) => {
      const next = recordReport(access, kept, now);
      return next === undefined ? err({ kind: "refused", message: "the bootstrap token is no longer valid" }) : ok({ next, value: kept });
    });
  }

  /** The record in memory: for status and `lattice certs`. It has hashes of tokens only. */
  accessOf(cluster: string): ClusterAccess | undefined {
    return this.#records.get(cluster);
  }

  clusters(): readonly string[] {
    return this.#records.clusters();
  }

  #recordOf(token: Sensitive<string>): ClusterAccess | undefined {
    return this.#records.get(clusterOfToken(token) ?? "");
  }

  #update(cluster: string, update: (access: ClusterAccess) => ClusterAccess): Promise<Result<void, AccessError>> {
    return this.#records.change(cluster, (access) => ok({ next: update(access), value: undefined }));
  }

  /** Without a request when the record in memory shows that nothing would change. */
  async #updateIfNew(cluster: string, update: (access: ClusterAccess) => ClusterAccess): Promise<Result<void, AccessError>> {
    const known = this.#records.get(cluster);
    return known !== undefined && update(known) === known ? ok(undefined) : this.#update(cluster, update);
  }

  #newTokens(cluster: string) {
    const bootstrapToken = createToken(cluster, this.#options.randomBytes);
    const proxyToken = createToken(cluster, this.#options.randomBytes);
    const csrHash = hashOfToken(csrTokenOf(cluster, bootstrapToken));
    const hashes = { bootstrapHash: hashOfToken(bootstrapToken), csrHash, proxyHash: hashOfToken(proxyToken) };
    return { plain: { bootstrapToken, proxyToken }, hashes };
  }
}
