/** The answers that a scripted API gives: objects, and `kind: Status` for every no. */
import { ok, type Result } from "#base";
import type { KubeError, TransportAnswer } from "#kube-client";
import type { Status } from "#kube";

/** What a request came to, before it is turned into bytes. */
export type Outcome = { readonly code: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

const REASONS = new Map([
  [400, "BadRequest"],
  [404, "NotFound"],
  [409, "Conflict"],
  [410, "Expired"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
]);

export function statusOf(code: number, message: string, reason = REASONS.get(code) ?? "Unknown"): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}

export function refuse(code: number, message: string, reason?: string): Outcome {
  return { code, body: statusOf(code, message, reason) };
}

export function answerOf(outcome: Outcome): TransportAnswer {
  const bytes = new TextEncoder().encode(JSON.stringify(outcome.body));
  return { code: outcome.code, headers: { "content-type": "application/json", ...outcome.headers }, body: once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncIterable<Result<Uint8Array, KubeError>> {
  yield ok(bytes);
}
