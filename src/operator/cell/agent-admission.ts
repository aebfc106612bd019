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
  return {
    identify: (certificate) => mapErr(readAgentIdentity(certificate), ({ message }) => message),
    authenticate: ({ cluster, serial, notBefore }) => {
      if (!registrations.isAccepted(cluster, serial, notBefore)) return err("the certificate was revoked, or the cluster was deleted");
      void registrations.connected(cluster, serial, notBefore).then((recorded) => {
        if (!recorded.ok) logger.warn("the connection of an agent was not recorded", { cluster, reason: recorded.error.message });
      });
      return ok(undefined);
    },
    renew: async (cluster, csr) => mapErr(await registrations.renewConnected(cluster, csr), ({ message }) => message),
  };
}
