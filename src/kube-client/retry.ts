/**
 * Whether a failed call may be retried.
 *
 * A write is retried only when the response states that it was not processed, or when it did not reach the server. After any other error it
 * is unknown whether the write took effect; the caller can read the object and decide.
 */
import { backoffDelay, type BackoffPolicy } from "#base";
import type { KubeError } from "./errors.ts";
import type { TransportRequest } from "./transport.ts";

export type RetryPolicy = {
  /** The number of attempts, including the first. */
  readonly attempts: number;
  readonly backoff: BackoffPolicy;
};

export const DEFAULT_RETRY: RetryPolicy = { attempts: 4, backoff: { initialMs: 200, maxMs: 5_000, factor: 2 } };

export function mayRetry(method: TransportRequest["method"], error: KubeError): boolean {
  if (error.retry === "useless") return false;
  if (error.retry === "safe") return error.kind === "network";
  if (error.kind === "too-many-requests") return true;
  if (method === "GET") return error.kind === "unavailable" || error.kind === "network";
  return error.code === 503 && error.retryAfterMs !== undefined;
}

/** Not before the server's Retry-After, and with jitter, so that clients do not retry at the same time. */
export function retryDelay(policy: RetryPolicy, failures: number, error: KubeError, random: () => number): number {
  return (error.retryAfterMs ?? 0) + backoffDelay(policy.backoff, failures, random);
}
