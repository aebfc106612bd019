/**
 * Renewal of an agent's certificate after it expired: TLS no longer accepts the certificate, so the request itself is signed with its key.
 *
 * The signature covers the cell, the cluster, the old certificate, the new CSR and the time. A recorded request is useless after the clock
 * window, and before that only yields another certificate for the same new key. Revocation is the caller's: this folder has no storage.
 */
import { sign, verify, type X509Certificate } from "node:crypto";
import { err, fromThrowing, mapErr, ok, sha256Hex, type Result, type Sensitive } from "#base";
import { readAgentIdentity, type AgentIdentity } from "./agent-identity.ts";
import { RENEWAL_AFTER_EXPIRY, trustedAuthorities, type CellAuthorities } from "./cell-authorities.ts";
import { requireCurve, curveOf } from "./curves.ts";
import { BOTH_CURVES, readCertificate, readKeyPair, readPrivateKey, type PkiError } from "./key-pair.ts";
import { readCsr, type CsrContent } from "./read-csr.ts";
import type { AgentRenewalRequest } from "./renewal-request.ts";

/** Clocks of an agent and its cell differ by at most one hour ... */
const RENEWAL_CLOCK_DIFFERENCE = 3_600_000;
/** ... and a request is used within this time after it was signed. */
const RENEWAL_WINDOW = 300_000;

export type RenewalError = {
  /**
   * "foreign": not signed by these authorities. "wrong-cluster": an agent's certificate, but of another cluster. "expired": longer ago than
   * renewal is possible; the cluster needs a new bootstrap token. "clock": signed too long ago or in the future.
   */
  readonly kind: "invalid-csr" | "invalid-certificate" | "foreign" | "wrong-cluster" | "expired" | "clock" | "bad-signature";
  readonly message: string;
};

type RenewalContent = { readonly cell: string; readonly cluster: string; readonly csrDigest: string; readonly time: number };

/** One field in each line; no field can contain a line break. */
function signedText({ cell, cluster, csrDigest, time }: RenewalContent, certificate: X509Certificate): Buffer {
  return Buffer.from(["lattice renewal 1", cell, cluster, sha256Hex(certificate.raw), csrDigest, String(time)].join("\n"));
}

/** The agent's half. `now` is its clock. */
export function signRenewal(
  { cluster, csr, now }: { readonly cluster: string; readonly csr: string; readonly now: number },
  oldKey: Sensitive<string>,
  oldCertificate: string,
): Result<AgentRenewalRequest, PkiError> {
  const request = readCsr(csr);
  if (!request.ok) return request;
  const certificate = readKeyPair({ certificate: oldCertificate, key: oldKey }, BOTH_CURVES);
  if (!certificate.ok) return certificate;
  const identity = readAgentIdentity(certificate.value);
  if (!identity.ok) return identity;
  if (identity.value.cluster !== cluster) {
    return err({ kind: "mismatch", message: `the certificate is of cluster ${identity.value.cluster}, not of ${cluster}` });
  }
  const key = readPrivateKey(oldKey, BOTH_CURVES);
  if (!key.ok) return key;
  const content = { cell: identity.value.cell, cluster, csrDigest: request.value.digest, time: now };
  const text = signedText(content, certificate.value);
  const signature = sign(requireCurve(key.value).digest, text, { key: key.value, dsaEncoding: "der" }).toString("base64");
  return ok({ certificate: oldCertificate, csr, time: now, signature });
}

export type RenewalCheck = {
  /** The cluster in the path of the request. */
  readonly cluster: string;
  readonly authorities: CellAuthorities;
  /** The cell's clock. */
  readonly now: number;
};

export type VerifiedRenewal = {
  readonly csr: CsrContent;
  /** Of the old certificate: the caller rejects serials that it has revoked or does not have on record. */
  readonly identity: AgentIdentity;
};

/** The cell's half. */
export function verifyRenewal(
  request: AgentRenewalRequest,
  { cluster, authorities, now }: RenewalCheck,
): Result<VerifiedRenewal, RenewalError> {
  const csr = mapErr(readCsr(request.csr), ({ message }) => ({ kind: "invalid-csr" as const, message }));
  if (!csr.ok) return csr;
  const certificate = issuedCertificate(request.certificate, authorities);
  if (!certificate.ok) return certificate;
  const identity = mapErr(readAgentIdentity(certificate.value), ({ message }) => ({ kind: "invalid-certificate" as const, message }));
  if (!identity.ok) return identity;
  if (identity.value.cell !== authorities.cell || identity.value.cluster !== cluster) {
    return fail("wrong-cluster", `the certificate is not of cluster ${cluster}`);
  }
  if (now > identity.value.notAfter + RENEWAL_AFTER_EXPIRY) {
    return fail("expired", "the certificate expired more than 90 days ago; the cluster needs a new bootstrap token");
  }
  if (!(Math.abs(now - request.time) <= RENEWAL_CLOCK_DIFFERENCE + RENEWAL_WINDOW)) {
    return fail("clock", "the request was signed too long ago or in the future; check the clocks of cell and agent");
  }
  const content = { cell: authorities.cell, cluster, csrDigest: csr.value.digest, time: request.time };
  if (!isSigned(request.signature, signedText(content, certificate.value), certificate.value)) {
    return fail("bad-signature", "the request is not signed with the key of the certificate");
  }
  return ok({ csr: csr.value, identity: identity.value });
}

function issuedCertificate(pem: string, authorities: CellAuthorities): Result<X509Certificate, RenewalError> {
  const certificate = readCertificate(pem);
  if (!certificate.ok) return fail("invalid-certificate", certificate.error.message);
  const issued = trustedAuthorities(authorities).some((authority) => {
    const issuer = readCertificate(authority.certificate);
    return issuer.ok && certificate.value.checkIssued(issuer.value) && certificate.value.verify(issuer.value.publicKey);
  });
  return issued ? certificate : fail("foreign", "the certificate was not signed by an authority of this cell");
}

function isSigned(signature: string, text: Buffer, certificate: X509Certificate): boolean {
  const { publicKey } = certificate;
  const curve = curveOf(publicKey);
  if (curve === undefined) return false;
  const verified = fromThrowing(
    () => verify(curve.digest, text, { key: publicKey, dsaEncoding: "der" }, Buffer.from(signature, "base64")),
    () => "unreadable",
  );
  return verified.ok && verified.value;
}

function fail(kind: RenewalError["kind"], message: string): Result<never, RenewalError> {
  return err({ kind, message });
}
