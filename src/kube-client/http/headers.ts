/**
 * Headers of requests, and headers of responses as plain text.
 *
 * They are checked here because HTTP/2 in Node drops a header with a line break without an error.
 */
import { validateHeaderName, validateHeaderValue } from "node:http";
import { fromThrowing, reveal, type Result } from "#base";
import type { KubeError } from "../errors.ts";
import type { ClusterConfig, Credential, Impersonation } from "../cluster-config.ts";

export type RequestHeaders = Record<string, string | string[]>;

export function requestHeaders(
  config: ClusterConfig,
  credential: Credential,
  own: Readonly<Record<string, string>>,
  userAgent: string,
): Result<RequestHeaders, KubeError> {
  const headers: RequestHeaders = { "user-agent": userAgent, ...own, ...impersonation(config.impersonate) };
  if (credential.token !== undefined) headers["authorization"] = `Bearer ${reveal(credential.token)}`;
  return fromThrowing(
    () => checked(headers),
    // the error of Node quotes characters of the value, which may be a token
    (): KubeError => ({
      kind: "bad-request",
      message: "a header has characters that HTTP does not allow; is there a line break in the token?",
      retry: "useless",
    }),
  );
}

function checked(headers: RequestHeaders): RequestHeaders {
  for (const [name, values] of Object.entries(headers)) {
    validateHeaderName(name);
    for (const value of Array.isArray(values) ? values : [values]) validateHeaderValue(name, value);
  }
  return headers;
}

function impersonation(as: Impersonation | undefined): RequestHeaders {
  if (as === undefined) return {};
  const headers: RequestHeaders = { "impersonate-user": as.user };
  if (as.uid !== undefined) headers["impersonate-uid"] = as.uid;
  if (as.groups.length > 0) headers["impersonate-group"] = [...as.groups];
  // the key becomes part of a header name, which allows fewer characters
  for (const [key, values] of as.extra) headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  return headers;
}

export function plainHeaders(headers: Readonly<Record<string, string | string[] | number | undefined>>): Record<string, string> {
  const plain: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(":")) plain[name] = Array.isArray(value) ? value.join(", ") : String(value);
  }
  return plain;
}
