/** Responses of the proxy itself: Kubernetes' Status, so that clients of an API server show the message. */
import { Buffer } from "node:buffer";
import type { Status } from "#kube";
import { writeHead, type HttpResponse } from "#listener";

export type ProxyRefusal = {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** Only where the request has had no effect: clients send it again. */
  readonly retryAfterSeconds?: number | undefined;
};

export const BAD_PATH: ProxyRefusal = { code: 400, reason: "BadRequest", message: "the path of the request is invalid" };
export const NOT_FOUND: ProxyRefusal = { code: 404, reason: "NotFound", message: "not found; clusters are at /clusters/<name>/" };
/** The same for an unknown cluster: names of clusters are not public. */
export const UNAUTHORIZED: ProxyRefusal = { code: 401, reason: "Unauthorized", message: "Unauthorized" };
export const AUTHENTICATION_FAILED: ProxyRefusal = { code: 500, reason: "InternalError", message: "the token cannot be checked" };
export const TOO_LARGE: ProxyRefusal = { code: 413, reason: "RequestEntityTooLarge", message: "the body of the request is too large" };
export const BODY_TOO_SLOW: ProxyRefusal = { code: 408, reason: "Timeout", message: "the body of the request did not arrive in time" };
export const UPGRADE_WITH_BODY: ProxyRefusal = {
  code: 400,
  reason: "BadRequest",
  message: "a request with the header Upgrade must not have a body",
};
export const NO_RESPONSE: ProxyRefusal = { code: 504, reason: "Timeout", message: "the cluster did not respond in time" };

export function tooManyRequests(most: number): ProxyRefusal {
  return {
    code: 429,
    reason: "TooManyRequests",
    message: `the cluster has ${most} open requests already; try again later`,
    retryAfterSeconds: 1,
  };
}

/** The request was not sent to the cluster. */
export function unavailable(message: string): ProxyRefusal {
  return { code: 503, reason: "ServiceUnavailable", message: `the cluster is not connected: ${message}`, retryAfterSeconds: 5 };
}

/** The request may have been carried out. */
export function failedInTunnel(message: string): ProxyRefusal {
  return { code: 503, reason: "ServiceUnavailable", message };
}

export function invalidRequest(message: string): ProxyRefusal {
  return { code: 400, reason: "BadRequest", message };
}

export function sendRefusal(response: HttpResponse, { code, reason, message, retryAfterSeconds }: ProxyRefusal): void {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, ...details, code };
  const body = `${JSON.stringify(status)}\n`;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": retryAfterSeconds };
  writeHead(response, code, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-content-type-options": "nosniff",
    ...retry,
  });
  response.end(body);
}
