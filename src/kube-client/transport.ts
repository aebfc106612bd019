/**
 * A transport sends one request and returns a response whose body can be read as it arrives: over HTTP, or by a function in this process
 * (tests, the embedded API server). Retries, time limits and decoding are implemented above it.
 */
import type { Result } from "#base";
import type { KubeError } from "./errors.ts";

export type TransportRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query string; begins with "/". */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A transport calls this after all waits (credentials, connections) and sends nothing when it returns false. */
  readonly mayLeave?: (() => boolean) | undefined;
};

export type TransportResponse = {
  readonly code: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends with the response; never throws: a broken connection is an error as the last item. Must be read or cancelled by the signal. */
  readonly body: AsyncIterable<Result<Uint8Array, KubeError>>;
};

/** Sends one request to an API server. */
export interface Transport {
  /** Resolves when the head of the response has arrived. The signal also ends the body. */
  send(request: TransportRequest, signal: AbortSignal): Promise<Result<TransportResponse, KubeError>>;
  close(): Promise<void>;
}
