/** Which agents a cell admits, and their renewals: what the link asks about a certificate that TLS has verified. */
import { err, mapErr, ok, type Logger } from "#base";
import type { Registrations } from "#http";
import type { CellLinkOptions } from "#link";
import { readAgentIdentity } from "#pki";

export type AgentAdmissionOptions = { readonly registrations: Registrations; readonly logger: Logger };

export function agentAdmission({
  registrations,
  logger,
}: AgentAdmissionOptions): Pick<CellLinkOptions, "identify" | "authenticate" | "renew"> {
  const record = async (...connection: Parameters<Registrations["connected"]>) => {
    const recorded = await registrations.connected(...connection);
    if (recorded.ok) return;
    logger.warn("the connection of an agent was not recorded", { cluster: connection[0], reason: recorded.error.message });
  };
  return {
    identify: (certificate) => mapErr(readAgentIdentity(certificate), ({ message }) => message),
    authenticate: ({ cluster, serial, notBefore }) => {
      if (!registrations.isAccepted(cluster, serial, notBefore)) return err("the certificate was revoked, or the cluster was deleted");
      void record(cluster, serial, notBefore);
      return ok(undefined);
    },
    renew: async (cluster, csr) => mapErr(await registrations.renewConnected(cluster, csr), ({ message }) => message),
  };
}
