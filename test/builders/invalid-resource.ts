/**
 * One object that both the parser and a real API server must reject.
 *
 * A row has the server's path and message where they differ. The server writes map keys with dots in schema errors
 * (`spec.containers.main.image`) and in brackets in rule errors, and does not explain patterns.
 */
import type { RawObject } from "./valid-resources.ts";

export type InvalidResource = {
  readonly name: string;
  readonly given: RawObject;
  readonly wantPath: string;
  /** A part of the parser's message. */
  readonly wantMessage: string;
  /** Where it differs from `wantPath`; null when the server rejects the whole request without a field (HTTP 400). */
  readonly serverPath?: string | null;
  /** A part of the server's message, where it differs from `wantMessage`. */
  readonly serverMessage?: string;
};

/** An update that is rejected, between two valid objects. */
export type InvalidUpdate = {
  readonly name: string;
  readonly before: RawObject;
  readonly after: RawObject;
  readonly wantPath: string;
  readonly wantMessage: string;
};
