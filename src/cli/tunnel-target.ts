/**
 * The API server of this cluster as the parent reaches it through the agent, with the credential of the operator: a token, or the client certificate
 * of a kubeconfig. What a tunnel cannot do is an error: the parent's requests would otherwise be sent as another user, or anonymously.
 */
import { err, ok, reveal, type Result } from "#base";
import type { ClusterConfig } from "#kube-client";
import type { TunnelTarget } from "#link";

export async function tunnelTarget(config: ClusterConfig, signal: AbortSignal): Promise<Result<TunnelTarget, string>> {
  if (config.serverName !== undefined) return unsupported("tls-server-name", "use an address that the server's certificate contains");
  if (config.impersonate !== undefined) return unsupported("impersonation (as, as-groups)", "use the credential of the user itself");
  const first = await config.credentials.get(signal);
  // a credential that cannot be had now may be had later
  const certificate = first.ok ? first.value.certificate : undefined;
  if (first.ok && first.value.token === undefined && certificate === undefined)
    return err("the kubeconfig has neither a token nor a client certificate");
  return ok({
    url: config.server,
    ca: config.certificateAuthority ?? "",
    clientCertificate: certificate,
    authorization: async () => {
      const credential = await config.credentials.get(signal);
      if (!credential.ok) throw new Error(credential.error.message);
      const { value } = credential;
      // connections have the first certificate; a plugin may return another one later
      if (value.certificate?.certificate !== certificate?.certificate)
        throw new Error("the kubeconfig or its plugin has another client certificate now; restart the operator");
      return value.token === undefined ? undefined : `Bearer ${reveal(value.token)}`;
    },
  });
}

function unsupported(what: string, remedy: string): Result<never, string> {
  return err(`${what} of the kubeconfig is not supported for requests of the parent; ${remedy}`);
}
