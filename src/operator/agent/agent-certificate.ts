/**
 * The certificate of an agent in Secret `lattice-agent-certificate`. The key is made here and never leaves the cluster.
 *
 * It is signed for the first time with the token of the registration, renewed over the stream at two thirds of its life, and after its expiry by a
 * request that the old key signs.
 */
import { base64OfText, err, mapErr, ok, reveal, sensitive, type Clock, type Result, type Sensitive } from "#base";
import { secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { AgentCredentials } from "#link";
import {
  certificateSummary,
  createCsr,
  createPrivateKeyPem,
  readAgentIdentity,
  renewalTime,
  signRenewal,
  type CertificateSummary,
} from "#pki";
import { postForCertificate, type GrantedCertificate } from "./bootstrap-client.ts";
import { secretText, type ParentConfig } from "./parent-config.ts";

export const AGENT_CERTIFICATE_SECRET = "lattice-agent-certificate";

export type AgentCertificateOptions = {
  readonly client: KubeClient;
  /** The operator's namespace. */
  readonly home: string;
  readonly cluster: string;
  readonly parent: ParentConfig;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

type Stored = { readonly credentials: AgentCredentials; readonly summary: CertificateSummary };

export class AgentCertificate {
  readonly #options: AgentCertificateOptions;
  #stored: Stored;

  private constructor(options: AgentCertificateOptions, stored: Stored) {
    this.#options = options;
    this.#stored = stored;
  }

  /** The stored one, or a first one. */
  static async open(options: AgentCertificateOptions): Promise<Result<AgentCertificate, string>> {
    const stored = await readStored(options);
    if (!stored.ok) return stored;
    const first = stored.value ?? (await requestFirst(options));
    if ("ok" in first) return first.ok ? ok(new AgentCertificate(options, first.value)) : first;
    return ok(new AgentCertificate(options, first));
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

  /** A new key and a request for it. */
  request(): Result<{ readonly csr: string; readonly key: Sensitive<string> }, string> {
    return newRequest(this.#options.cluster);
  }

  async store(credentials: AgentCredentials): Promise<Result<void, string>> {
    const stored = await write(this.#options, credentials);
    if (!stored.ok) return stored;
    this.#stored = stored.value;
    return ok(undefined);
  }

  /** After its expiry TLS refuses the certificate, so the request itself is signed with its key. */
  async renewExpired(): Promise<Result<void, string>> {
    const { cluster, parent, clock, signal } = this.#options;
    const { key, certificate, trustBundle } = this.credentials;
    const request = this.request();
    if (!request.ok) return request;
    const signed = signRenewal({ cluster, csr: request.value.csr, now: clock.now() }, key, certificate);
    if (!signed.ok) return err(signed.error.message);
    const options = { url: parent.bootstrap, trustBundle };
    const granted = await postForCertificate(options, {
      path: `/api/clusters/${cluster}/renew`,
      body: JSON.stringify(signed.value),
      signal,
    });
    return granted.ok ? this.store({ ...granted.value, key: request.value.key }) : granted;
  }
}

async function readStored(options: AgentCertificateOptions): Promise<Result<Stored | undefined, string>> {
  const { client, home, cluster, parent, signal } = options;
  const found = await client.get<KubeObject>(secrets, { namespace: home, name: AGENT_CERTIFICATE_SECRET }, { signal });
  if (!found.ok) return found.error.kind === "not-found" ? ok(undefined) : err(found.error.message);
  const [certificate, key, trustBundle] = ["tls.crt", "tls.key", "ca.crt"].map((name) => secretText(found.value, name));
  if (certificate === undefined || key === undefined || trustBundle === undefined) return ok(undefined);
  const identity = readAgentIdentity(certificate);
  // one of another parent, or of another cluster, is replaced
  if (!identity.ok || identity.value.cluster !== cluster || identity.value.cell !== parent.cell) return ok(undefined);
  return mapStored({ certificate, key: sensitive(key), trustBundle });
}

/** A lost answer costs nothing: the cell signs again, also for another key, until the agent has connected. */
async function requestFirst(options: AgentCertificateOptions): Promise<Result<Stored, string>> {
  const { cluster, parent, signal } = options;
  const request = newRequest(cluster);
  if (!request.ok) return request;
  const { csr: body, key } = request.value;
  const granted: Result<GrantedCertificate, string> = await postForCertificate(
    { url: parent.bootstrap, trustBundle: parent.trustBundle },
    { path: `/api/clusters/${cluster}/csr`, body, token: parent.csrToken, signal },
  );
  return granted.ok ? write(options, { ...granted.value, key }) : granted;
}

function newRequest(cluster: string): Result<{ readonly csr: string; readonly key: Sensitive<string> }, string> {
  const key = createPrivateKeyPem();
  const csr = mapErr(createCsr(key, { commonName: cluster }), ({ message }) => message);
  return csr.ok ? ok({ csr: csr.value, key }) : csr;
}

async function write({ client, home, signal }: AgentCertificateOptions, credentials: AgentCredentials): Promise<Result<Stored, string>> {
  const stored = mapStored(credentials);
  if (!stored.ok) return stored;
  const texts = { "tls.crt": credentials.certificate, "tls.key": reveal(credentials.key), "ca.crt": credentials.trustBundle };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64OfText(text)]));
  const metadata = { name: AGENT_CERTIFICATE_SECRET, namespace: home, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
  const applied = await client.apply<KubeObject>(secrets, secret, { fieldManager: "lattice-agent", force: true, signal });
  return applied.ok ? stored : err(`Secret ${AGENT_CERTIFICATE_SECRET} cannot be written: ${applied.error.message}`);
}

function mapStored(credentials: AgentCredentials): Result<Stored, string> {
  const summary = certificateSummary(credentials.certificate);
  return summary.ok ? ok({ credentials, summary: summary.value }) : err(summary.error.message);
}
