/**
 * Connection errors of Node as one line with the fix. Decided by `code`, never by message.
 *
 * Certificate faults are marked "useless" to retry: they persist until the configuration changes.
 */
import { describeThrown } from "#base";
import type { KubeError } from "../errors.ts";

const CERTIFICATE_FAULTS = new Map([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate was not issued by the configured certificate authority"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "its certificate was not issued by the configured certificate authority"],
  ["UNABLE_TO_GET_ISSUER_CERT", "its certificate was not issued by the configured certificate authority"],
  ["CERT_SIGNATURE_FAILURE", "its certificate was not issued by the configured certificate authority"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate authority is not the configured one"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed and not the configured one"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet; compare the clocks of both machines"],
  ["CERT_REVOKED", "its certificate was revoked"],
  ["INVALID_PURPOSE", "its certificate is not a server's"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another name; set tls-server-name if it is expected"],
]);

const CONNECTION_FAULTS = new Map([
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "it requires a client certificate"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "it does not accept the client certificate's authority"],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "it does not accept the client certificate"],
  ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "it does not accept the client certificate"],
  ["ECONNREFUSED", "no server listens there"],
  ["ENOTFOUND", "the host name is unknown"],
  ["EAI_AGAIN", "the host name could not be resolved"],
  ["ECONNRESET", "the connection was reset"],
  ["EPIPE", "the connection was closed"],
  ["ETIMEDOUT", "it did not respond"],
  ["EHOSTUNREACH", "there is no route to it"],
  ["ENETUNREACH", "there is no route to it"],
]);

/** A connection that could not be opened: nothing was sent, so any call may be retried. */
export function connectFailure(server: string, thrown: unknown): KubeError {
  return distrust(server, thrown) ?? { kind: "network", message: `cannot connect to ${server}: ${explain(thrown)}`, retry: "safe" };
}

/** A connection that broke during a call: whether the server processed it is not known. */
export function connectionLost(server: string, thrown: unknown): KubeError {
  return distrust(server, thrown) ?? { kind: "network", message: `the connection to ${server} broke: ${explain(thrown)}` };
}

function distrust(server: string, thrown: unknown): KubeError | undefined {
  const code = codeOf(thrown);
  const fault = CERTIFICATE_FAULTS.get(code);
  return fault === undefined ? undefined : { kind: "network", message: `${server} is not trusted: ${fault} (${code})`, retry: "useless" };
}

function explain(thrown: unknown): string {
  // a name with several addresses fails with one error for each
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return explain(thrown.errors[0]);
  return CONNECTION_FAULTS.get(codeOf(thrown)) ?? describeThrown(thrown);
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
