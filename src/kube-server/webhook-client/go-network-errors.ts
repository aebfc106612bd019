/** Network errors of a webhook call with the messages of Go's network packages, which users search for. */
import { isIP } from "node:net";
import type { PeerCertificate } from "node:tls";
import { X509Certificate } from "node:crypto";
import { describeThrown } from "#base";

const CONNECT: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  ETIMEDOUT: "connection timed out",
  EADDRNOTAVAIL: "cannot assign requested address",
};

const UNKNOWN_AUTHORITY = "x509: certificate signed by unknown authority";
const CERTIFICATE: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: "x509: certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID: "x509: certificate has expired or is not yet valid",
  INVALID_PURPOSE: "x509: certificate specifies an incompatible key usage",
};

const BAD_CERTIFICATE = "tls: failed to verify certificate: ";

export function goNetworkError(thrown: unknown): string {
  const error = thrown instanceof AggregateError ? (thrown.errors[0] as unknown) : thrown;
  const code = textField(error, "code");
  const syscall = textField(error, "syscall");
  if (syscall === "getaddrinfo") return `dial tcp: lookup ${textField(error, "hostname")}: no such host`;
  const refused = syscall === "connect" ? CONNECT[code] : undefined;
  if (refused !== undefined) return `dial tcp ${addressOf(error)}: connect: ${refused}`;
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return BAD_CERTIFICATE + certificate;
  if (code === "ECONNRESET" || code === "EPIPE") return "EOF";
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return tlsError(describeThrown(error));
  return describeThrown(error);
}

function tlsError(message: string): string {
  if (/wrong version number|packet length too long|http request/i.test(message)) return "http: server gave HTTP response to HTTPS client";
  const alert = /alert ([a-z ]+?)(?: *:|$)/i.exec(message)?.[1];
  return alert === undefined ? "tls: handshake failure" : `remote error: tls: ${alert}`;
}

function addressOf(error: unknown): string {
  const address = textField(error, "address");
  return `${isIP(address) === 6 ? `[${address}]` : address}:${textField(error, "port")}`;
}

function textField(error: unknown, name: string): string {
  const value: unknown = typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Go's rules: subject alternative names count, the common name does not. Undefined: the certificate is valid for the host. */
export function checkServerName(host: string, peer: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(peer.raw);
  const isAddress = isIP(host) !== 0;
  const fits = isAddress ? certificate.checkIP(host) : certificate.checkHost(host, { subject: "never" });
  return fits === undefined ? new Error(BAD_CERTIFICATE + wrongName(host, isAddress, peer)) : undefined;
}

function wrongName(host: string, isAddress: boolean, { subjectaltname, subject }: PeerCertificate): string {
  if (subjectaltname === undefined && subject.CN === host) return "x509: certificate relies on legacy Common Name field, use SANs instead";
  const prefix = isAddress ? "IP Address:" : "DNS:";
  const names = (subjectaltname ?? "").split(", ").flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  if (names.length > 0) return `x509: certificate is valid for ${names.join(", ")}, not ${host}`;
  return isAddress
    ? `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${host}`;
}
