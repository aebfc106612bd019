/**
 * The configuration of a program that runs in a pod: address from the environment, identity from the mounted service account. The token is
 * read again regularly: the kubelet rewrites it before it expires.
 */
import { isIPv6 } from "node:net";
import { err, ok, type Clock, type Result } from "#base";
import { parseServerUrl, type ClusterConfig } from "../cluster-config.ts";
import { tokenFileCredentials } from "../credentials/token-file.ts";
import type { KubeconfigError } from "./kubeconfig.ts";
import { readText, type ReadFile } from "../read-text.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

export type InClusterOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly readFile?: ReadFile;
};

export async function inClusterConfig({ env, clock, readFile }: InClusterOptions): Promise<Result<ClusterConfig, KubeconfigError>> {
  const host = env["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "";
  if (host === "" || port === "") {
    return err({ kind: "not-found", message: "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set" });
  }
  const server = parseServerUrl(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  if (!server.ok)
    return err({ kind: "malformed", message: `KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not an address: ${server.error}` });
  const authority = await readText(`${FOLDER}/ca.crt`, readFile);
  const token = await readText(`${FOLDER}/token`, readFile);
  for (const file of [authority, token]) {
    if (!file.ok)
      return err({ ...file.error, message: `${file.error.message}; set automountServiceAccountToken on the pod's service account` });
  }
  // absent when only the token is projected; then there is no default namespace
  const namespace = await readText(`${FOLDER}/namespace`, readFile);
  return ok({
    server: server.value,
    certificateAuthority: authority.ok ? authority.value : undefined,
    credentials: tokenFileCredentials({ path: `${FOLDER}/token`, clock, readFile }),
    namespace: namespace.ok ? namespace.value.trim() : undefined,
  });
}
