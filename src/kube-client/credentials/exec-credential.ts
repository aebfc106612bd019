/**
 * ExecCredential: the input of a plugin (in KUBERNETES_EXEC_INFO) and its output (on stdout).
 *
 * Errors never quote the output: it may contain a token.
 */
import { err, ok, reveal, sensitive, type Result, type Sensitive } from "#base";
import { field, fieldAt, parseJson, type Json } from "#kube";
import type { Credential } from "../cluster-config.ts";

const EXEC_API_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;
export type ExecApiVersion = (typeof EXEC_API_VERSIONS)[number];

export function parseExecApiVersion(raw: string | undefined): Result<ExecApiVersion, string> {
  const known = EXEC_API_VERSIONS.find((version) => version === raw);
  return known === undefined
    ? err(`exec.apiVersion must be one of ${EXEC_API_VERSIONS.join(", ")}; update the plugin and run its setup again`)
    : ok(known);
}

export type ExecClusterInfo = {
  readonly server: string;
  readonly serverName?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly config?: Json | undefined;
};

export function formatExecInfo(apiVersion: ExecApiVersion, interactive: boolean, cluster: ExecClusterInfo | undefined): string {
  const info = cluster && {
    server: cluster.server,
    "tls-server-name": cluster.serverName,
    "certificate-authority-data":
      cluster.certificateAuthority === undefined ? undefined : Buffer.from(cluster.certificateAuthority, "utf8").toString("base64"),
    config: cluster.config,
  };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive, cluster: info } });
}

export type IssuedCredential = {
  readonly credential: Credential;
  /** Milliseconds since 1970; absent: valid until the server refuses it. */
  readonly expiresAt?: number | undefined;
};

export function parseExecCredential(stdout: Sensitive<string>, apiVersion: ExecApiVersion): Result<IssuedCredential, string> {
  const parsed = parseJson(reveal(stdout));
  if (!parsed.ok || field(parsed.value, "kind") !== "ExecCredential") return err("it did not print an ExecCredential as JSON");
  if (field(parsed.value, "apiVersion") !== apiVersion) return err(`it did not print ${apiVersion}, which the kubeconfig requires`);
  const text = (name: string): string | undefined => {
    const value = fieldAt(parsed.value, "status", name);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const token = text("token");
  const certificate = text("clientCertificateData");
  const key = text("clientKeyData");
  if ((certificate === undefined) !== (key === undefined))
    return err("it returned a client certificate without a key, or a key without a certificate");
  if (token === undefined && certificate === undefined) return err("it returned neither a token nor a client certificate");
  const expiry = expiryOf(text("expirationTimestamp"));
  if (!expiry.ok) return expiry;
  return ok({
    credential: {
      token: token === undefined ? undefined : sensitive(token),
      certificate: certificate === undefined || key === undefined ? undefined : { certificate, key: sensitive(key) },
    },
    expiresAt: expiry.value,
  });
}

function expiryOf(raw: string | undefined): Result<number | undefined, string> {
  if (raw === undefined) return ok(undefined);
  const at = Date.parse(raw);
  return Number.isNaN(at) ? err("its expirationTimestamp is not a time") : ok(at);
}
