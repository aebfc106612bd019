/**
 * A transport carries one request and gives back an answer whose body can be read as it arrives. HTTP is one; a function in
 * this process is another (tests, the embedded API server). Retries, time limits and meaning live above it.
 */
import type { Result } from "#base";
import type { KubeError } from "./errors.ts";

export type TransportRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query string; begins with "/". */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A transport asks this after everything it waits for (credentials, connections) and sends nothing when it says false. */
  readonly mayLeave?: (() => boolean) | undefined;
};

export type TransportAnswer = {
  readonly code: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when the answer does; throws nothing: a break is the error item that comes last. Must be read or cancelled by the signal. */
  readonly body: AsyncIterable<Result<Uint8Array, KubeError>>;
};

/** Sends one request to an API server. */
export interface Transport {
  /** Resolves when the answer's head has arrived. The signal also ends the body. */
  send(request: TransportRequest, signal: AbortSignal): Promise<Result<TransportAnswer, KubeError>>;
  close(): Promise<void>;
}
