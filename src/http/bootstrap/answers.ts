/**
 * The responses of the bootstrap server. Every failed authentication has the same one: a client cannot distinguish wrong, expired, spent and revoked
 * tokens, unknown clusters, and tokens of other clusters.
 */
import { Buffer } from "node:buffer";
import { writeHead, type HttpResponse, type ResponseHead } from "#listener";
import type { AccessError } from "./access-records.ts";

export type BootstrapOutcome =
  | "ok"
  | "unauthenticated"
  | "limited"
  | "invalid"
  | "too-large"
  | "not-found"
  | "busy"
  | "unavailable"
  | "disconnected"
  | "error";

export type BootstrapAnswer = {
  readonly outcome: BootstrapOutcome;
  readonly status: number;
  readonly type: "application/json" | "application/yaml";
  readonly body: string;
  readonly retryAfterMs?: number;
  /** For the log: never a token, and not sent. */
  readonly reason?: string;
};

export function yamlAnswer(body: string): BootstrapAnswer {
  return { outcome: "ok", status: 200, type: "application/yaml", body };
}

export function jsonAnswer(value: Readonly<Record<string, string>>): BootstrapAnswer {
  return { outcome: "ok", status: 200, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

type Failed = Omit<BootstrapAnswer, "body" | "type">;

function failedAnswer(failed: Failed, message: string): BootstrapAnswer {
  return { ...failed, type: "application/json", body: `${JSON.stringify({ error: message })}\n` };
}

export function unauthenticated(reason?: string): BootstrapAnswer {
  const failed: Failed = { outcome: "unauthenticated", status: 401, ...(reason === undefined ? {} : { reason }) };
  return failedAnswer(failed, "authentication failed");
}

export function limited(retryAfterMs: number): BootstrapAnswer {
  return failedAnswer({ outcome: "limited", status: 429, retryAfterMs }, "too many requests; try again later");
}

export function invalid(message: string, status = 400): BootstrapAnswer {
  return failedAnswer({ outcome: "invalid", status }, message);
}

export function tooLarge(most: number): BootstrapAnswer {
  return failedAnswer({ outcome: "too-large", status: 413 }, `the body must have at most ${most} bytes`);
}

export function notFound(): BootstrapAnswer {
  return failedAnswer({ outcome: "not-found", status: 404 }, "not found");
}

export function busy(): BootstrapAnswer {
  return failedAnswer({ outcome: "busy", status: 503, retryAfterMs: 1_000 }, "the server is busy; try again later");
}

export function internalError(): BootstrapAnswer {
  return failedAnswer({ outcome: "error", status: 500 }, "internal error");
}

export const disconnected: BootstrapAnswer = failedAnswer({ outcome: "disconnected", status: 400 }, "the body is not complete");

export function answerOfError({ kind, message }: AccessError): BootstrapAnswer {
  switch (kind) {
    case "not-found":
    case "refused":
    case "invalid-record":
      return unauthenticated(message);
    case "invalid-request":
      return invalid(message);
    case "busy":
      return busy();
    case "unavailable": {
      const failed: Failed = { outcome: "unavailable", status: 503, retryAfterMs: 5_000, reason: message };
      return failedAnswer(failed, "the cell cannot answer at present; try again later");
    }
  }
}

export function sendAnswer(response: HttpResponse, { status, type, body, retryAfterMs }: BootstrapAnswer): void {
  const head: ResponseHead = {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) }),
    // one request per connection, so that idle ones hold none; HTTP/2 has no such header
    ...("stream" in response ? {} : { connection: "close" }),
  };
  writeHead(response, status, head);
  response.end(body);
}
