/**
 * The identity of an agent in its certificate: names, dates, and their reading on the side of the cell.
 *
 * The SPIFFE name is the identity. The DNS name and the common name repeat the cluster for people and tools and are never read. Names are
 * taken from the DER of the extension, not from the text that Node makes of it: there a name with a comma could look like two.
 */
import { X509Certificate } from "node:crypto";
import { andThen, err, ok, type Result } from "#base";
import type { CertificateAuthority } from "./certificate.ts";
import { uriNamesOf } from "./certificate-fields.ts";
import { readCertificate, type PkiError } from "./key-pair.ts";

const DAY = 86_400_000;
export const AGENT_CERTIFICATE_LIFE = 30 * DAY;
/** Certificates begin in the past: the clock of a peer can be slow. */
export const CERTIFICATE_BACKDATE = 2 * 3_600_000;

export type AgentNames = {
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly uriNames: readonly string[];
};

export function agentNames(cell: string, cluster: string): AgentNames {
  return {
    commonName: cluster,
    dnsNames: [`${cluster}.agent.${cell}.lattice`],
    uriNames: [`spiffe://${cell}.lattice/cluster/${cluster}`],
  };
}

export type CertificateValidity = { readonly notBefore: Date; readonly notAfter: Date };

/** The dates of a certificate that is signed at `now`; it never outlives its authority. */
export function certificateValidity(authority: CertificateAuthority, now: number, life = AGENT_CERTIFICATE_LIFE): CertificateValidity {
  return { notBefore: new Date(now - CERTIFICATE_BACKDATE), notAfter: new Date(Math.min(now + life, authority.notAfter.getTime())) };
}

/** When to renew: at two thirds of the life that began when the certificate was signed. */
export function renewalTime({ notBefore, notAfter }: CertificateValidity): number {
  const signed = notBefore.getTime() + CERTIFICATE_BACKDATE;
  const start = signed < notAfter.getTime() ? signed : notBefore.getTime();
  return start + Math.floor(((notAfter.getTime() - start) * 2) / 3);
}

export type AgentIdentity = {
  readonly cell: string;
  readonly cluster: string;
  /** Upper-case hexadecimal. */
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
};

const NAME = "[a-z0-9](?:[-a-z0-9.]{0,61}[a-z0-9])?";
const AGENT_URI = new RegExp(`^spiffe://(${NAME})\\.lattice/cluster/(${NAME})$`);

/** The identity of a certificate that is already verified against the authorities (by TLS, or by `verifyRenewal`). */
export function readAgentIdentity(certificate: X509Certificate | string | Uint8Array): Result<AgentIdentity, PkiError> {
  const read = certificate instanceof X509Certificate ? ok(certificate) : readCertificate(certificate);
  return andThen(read, (parsed) => {
    if (parsed.ca) return invalid("the certificate is an authority's, not an agent's");
    const uris = uriNamesOf(parsed.raw);
    if (!uris.ok) return invalid(uris.error);
    const [uri, ...others] = uris.value;
    if (uri === undefined || others.length > 0) return invalid("the certificate must have exactly one URI name");
    const [, cell, cluster] = AGENT_URI.exec(uri) ?? [];
    if (cell === undefined || cluster === undefined) return invalid("the URI name of the certificate is not an agent's");
    const [notBefore, notAfter] = [parsed.validFromDate.getTime(), parsed.validToDate.getTime()];
    return ok({ cell, cluster, serial: parsed.serialNumber, notBefore, notAfter });
  });
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-certificate", message });
}
