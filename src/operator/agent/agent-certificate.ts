/**
 * The certificate of an agent, kept in Secret `lattice-agent-certificate`. The key is made here and never leaves the cluster.
 *
 * It is signed for the first time with the token of the registration, renewed over the stream at two thirds of its life, and after its expiry by a
 * request that the old key signs. A parent configuration with another token means that the cluster was bootstrapped again: the new token is used once.
 */
import { err, mapErr, ok, reveal, sha256Hex, type Clock, type Result, type Sensitive } from "#base";
import { newCertificateHelp } from "#controllers";
import type { KubeClient } from "#kube-client";
import type { AgentCredentials } from "#link";
import {
  certificateSummary,
  createCsr,
  createPrivateKeyPem,
  RENEWAL_AFTER_EXPIRY,
  renewalTime,
  signRenewal,
  type CertificateSummary,
} from "#pki";
import { postForCertificate, type BootstrapClientError, type GrantedCertificate } from "./bootstrap-client.ts";
import { readAgentSecret, writeAgentSecret, type AgentSecretContent } from "./certificate-secret.ts";
import type { ParentConfig } from "./parent-config.ts";

export type AgentCertificateOptions = {
  readonly client: KubeClient;
  /** The operator's namespace. */
  readonly home: string;
  readonly cluster: string;
  readonly parent: ParentConfig;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default: HTTPS. */
  readonly post?: typeof postForCertificate | undefined;
};

/** "refused": the parent answered, and asking again has the same result. */
export type RenewalFailure = { readonly kind: "refused" | "failed"; readonly message: string };

type Stored = { readonly credentials: AgentCredentials; readonly summary: CertificateSummary; readonly tokenHash: string | undefined };

export class AgentCertificate {
  readonly #options: AgentCertificateOptions;
  #stored: Stored;
  #nextKey: Sensitive<string> | undefined;

  private constructor(options: AgentCertificateOptions, stored: Stored, nextKey?: Sensitive<string>) {
    this.#options = options;
    this.#stored = stored;
    this.#nextKey = nextKey;
  }

  /** The stored one, or a first one. */
  static async open(options: AgentCertificateOptions): Promise<Result<AgentCertificate, string>> {
    const content = await readAgentSecret(options);
    if (!content.ok) return content;
    const { credentials, nextKey, tokenHash } = content.value;
    const stored = credentials === undefined ? undefined : storedOf(credentials, tokenHash);
    if (stored?.ok === false) return stored;
    const isSameToken = tokenHash === undefined || tokenHash === hashOf(options.parent);
    if (stored !== undefined && isSameToken) return ok(new AgentCertificate(options, stored.value, nextKey));
    const first = await requestFirst(options, content.value);
    if (first.ok) return ok(new AgentCertificate(options, first.value));
    // the configuration may be an old one, applied again
    if (stored !== undefined && first.error.kind === "refused") return ok(new AgentCertificate(options, stored.value, nextKey));
    return err(first.error.message);
  }

  get credentials(): AgentCredentials {
    return this.#stored.credentials;
  }

  get notAfter(): number {
    return this.#stored.summary.notAfter.getTime();
  }

  isDue(now: number): boolean {
    return now >= renewalTime(this.#stored.summary);
  }

  isExpired(now: number): boolean {
    return now >= this.notAfter;
  }

  /** A new key and a request for it. A lost answer costs nothing: the old certificate stays in use, and the next request has another key. */
  request(): Result<{ readonly csr: string; readonly key: Sensitive<string> }, string> {
    return requestFor(createPrivateKeyPem(), this.#options.cluster);
  }

  async store(credentials: AgentCredentials): Promise<Result<void, string>> {
    const stored = storedOf(credentials, this.#stored.tokenHash);
    if (!stored.ok) return stored;
    const written = await writeAgentSecret(this.#options, stored.value);
    if (!written.ok) return written;
    this.#stored = stored.value;
    this.#nextKey = undefined;
    return written;
  }

  /** After its expiry TLS refuses the certificate, so the request itself is signed with its key. */
  async renewExpired(): Promise<Result<void, RenewalFailure>> {
    const { cluster, parent, clock, signal, post = postForCertificate } = this.#options;
    const { key, certificate, trustBundle } = this.credentials;
    const nextKey = await storedKey(this.#options, { ...this.#stored, nextKey: this.#nextKey });
    if (!nextKey.ok) return failed(nextKey.error);
    this.#nextKey = nextKey.value;
    const request = requestFor(nextKey.value, cluster);
    if (!request.ok) return failed(request.error);
    const signed = signRenewal({ cluster, csr: request.value.csr, now: Math.floor(clock.now()) }, key, certificate);
    if (!signed.ok) return failed(signed.error.message);
    const sending = { path: `/api/clusters/${cluster}/renew`, body: JSON.stringify(signed.value), signal };
    const granted = await post({ url: parent.bootstrap, trustBundle }, sending);
    if (!granted.ok) return granted.error.kind === "refused" ? err(this.#refusal()) : failed(granted.error.message);
    const stored = await this.store({ ...granted.value, key: nextKey.value });
    return stored.ok ? stored : failed(stored.error);
  }

  /** The parent gives no reason to a client that it does not authenticate. */
  #refusal(): RenewalFailure {
    const {
      cluster,
      parent: { cell },
    } = this.#options;
    const expired = `the certificate of the agent expired at ${this.#stored.summary.notAfter.toISOString()}`;
    const isTooOld = this.#options.clock.now() > this.notAfter + RENEWAL_AFTER_EXPIRY;
    const why = isTooOld
      ? "more than 90 days ago, and can no longer be renewed"
      : `and ${cell} does not renew it: it was revoked, or the cluster was deleted there, or the clocks differ by more than an hour`;
    return { kind: "refused", message: `${expired}, ${why}; ${newCertificateHelp(cluster, cell)}` };
  }
}

type FirstError = Pick<BootstrapClientError, "kind" | "message">;

/** A lost answer costs nothing: the cell signs the same key again until the agent has connected, also after the token expired. */
async function requestFirst(options: AgentCertificateOptions, content: AgentSecretContent): Promise<Result<Stored, FirstError>> {
  const { cluster, parent, signal, post = postForCertificate } = options;
  const asFailed = <T>(result: Result<T, string>) => mapErr(result, (message): FirstError => ({ kind: "failed", message }));
  const key = asFailed(await storedKey(options, content));
  if (!key.ok) return key;
  const request = asFailed(requestFor(key.value, cluster));
  if (!request.ok) return request;
  const granted: Result<GrantedCertificate, FirstError> = await post(
    { url: parent.bootstrap, trustBundle: parent.trustBundle },
    { path: `/api/clusters/${cluster}/csr`, body: request.value.csr, token: parent.csrToken, signal },
  );
  if (!granted.ok) return granted;
  const stored = asFailed(storedOf({ ...granted.value, key: key.value }, hashOf(parent)));
  const written = stored.ok ? asFailed(await writeAgentSecret(options, stored.value)) : stored;
  return written.ok ? stored : written;
}

/** The key of a request is stored before the request is sent: a certificate for a lost key would be of no use. */
async function storedKey(options: AgentCertificateOptions, content: AgentSecretContent): Promise<Result<Sensitive<string>, string>> {
  if (content.nextKey !== undefined) return ok(content.nextKey);
  const nextKey = createPrivateKeyPem();
  const written = await writeAgentSecret(options, { ...content, nextKey });
  return written.ok ? ok(nextKey) : written;
}

function requestFor(key: Sensitive<string>, cluster: string): Result<{ readonly csr: string; readonly key: Sensitive<string> }, string> {
  const csr = mapErr(createCsr(key, { commonName: cluster }), ({ message }) => message);
  return csr.ok ? ok({ csr: csr.value, key }) : csr;
}

function storedOf(credentials: AgentCredentials, tokenHash: string | undefined): Result<Stored, string> {
  const summary = certificateSummary(credentials.certificate);
  return summary.ok ? ok({ credentials, summary: summary.value, tokenHash }) : err(summary.error.message);
}

function hashOf({ csrToken }: ParentConfig): string {
  return sha256Hex(reveal(csrToken));
}

function failed(message: string): Result<never, RenewalFailure> {
  return err({ kind: "failed", message });
}
