/**
 * Whether a call that failed may be made again.
 *
 * A write is made again only when the server said that it did nothing, or when nothing reached it. After any other break
 * nobody knows whether the write took effect, and the caller, who can look, must decide.
 */
import { backoffDelay, type BackoffPolicy } from "#base";
import type { KubeError } from "./errors.ts";
import type { TransportRequest } from "./transport.ts";

export type RetryPolicy = {
  /** Tries in all, the first included. */
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

/** Never sooner than the server asked for, and never in step with other clients. */
export function retryDelay(policy: RetryPolicy, failures: number, error: KubeError, random: () => number): number {
  return (error.retryAfterMs ?? 0) + backoffDelay(policy.backoff, failures, random);
}
