/**
 * Secret `lattice-agent-certificate`: `tls.crt`, `tls.key` and `ca.crt` as other programs expect them, and what a restarted agent needs to repeat a
 * request: `next.key`, the key of a request without an answer yet, and `csr-token-hash`, the token with which the certificate was first signed.
 */
import { base64OfText, err, ok, reveal, sensitive, type Result, type Sensitive } from "#base";
import { secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { AgentCredentials } from "#link";
import { readAgentIdentity } from "#pki";
import { secretText, type ParentConfig } from "./parent-config.ts";

export const AGENT_CERTIFICATE_SECRET = "lattice-agent-certificate";

export type AgentSecretOptions = {
  readonly client: KubeClient;
  /** The operator's namespace. */
  readonly home: string;
  readonly cluster: string;
  readonly parent: ParentConfig;
  readonly signal: AbortSignal;
};

export type AgentSecretContent = {
  readonly credentials?: AgentCredentials | undefined;
  readonly nextKey?: Sensitive<string> | undefined;
  /** SHA-256, hexadecimal. */
  readonly tokenHash?: string | undefined;
};

/** Credentials of another parent, or of another cluster, are left out. */
export async function readAgentSecret(options: AgentSecretOptions): Promise<Result<AgentSecretContent, string>> {
  const { client, home, cluster, parent, signal } = options;
  const found = await client.get<KubeObject>(secrets, { namespace: home, name: AGENT_CERTIFICATE_SECRET }, { signal });
  if (!found.ok) return found.error.kind === "not-found" ? ok({}) : err(found.error.message);
  const read = (name: string) => secretText(found.value, name);
  const [certificate, key, trustBundle, next] = [read("tls.crt"), read("tls.key"), read("ca.crt"), read("next.key")];
  const nextKey = next === undefined ? {} : { nextKey: sensitive(next) };
  if (certificate === undefined || key === undefined || trustBundle === undefined) return ok(nextKey);
  const identity = readAgentIdentity(certificate);
  if (!identity.ok || identity.value.cluster !== cluster || identity.value.cell !== parent.cell) return ok(nextKey);
  return ok({ ...nextKey, credentials: { certificate, key: sensitive(key), trustBundle }, tokenHash: read("csr-token-hash") });
}

/** The whole content: fields that are left out are removed. */
export async function writeAgentSecret(options: AgentSecretOptions, content: AgentSecretContent): Promise<Result<void, string>> {
  const { client, home, signal } = options;
  const { credentials, nextKey, tokenHash } = content;
  const texts = {
    ...(credentials === undefined ? {} : tlsTexts(credentials)),
    ...(nextKey === undefined ? {} : { "next.key": reveal(nextKey) }),
    ...(tokenHash === undefined ? {} : { "csr-token-hash": tokenHash }),
  };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64OfText(text)]));
  const metadata = { name: AGENT_CERTIFICATE_SECRET, namespace: home, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
  const applied = await client.apply<KubeObject>(secrets, secret, { fieldManager: "lattice-agent", force: true, signal });
  return applied.ok ? ok(undefined) : err(`Secret ${AGENT_CERTIFICATE_SECRET} cannot be written: ${applied.error.message}`);
}

function tlsTexts({ certificate, key, trustBundle }: AgentCredentials): Readonly<Record<string, string>> {
  return { "tls.crt": certificate, "tls.key": reveal(key), "ca.crt": trustBundle };
}
