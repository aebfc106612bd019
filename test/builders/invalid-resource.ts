/**
 * A row of what must be refused, by our parser and by a real API server alike.
 *
 * Where the server words it differently the row says how. It writes the keys of maps with dots where a schema is broken
 * (`spec.containers.main.image`) and in brackets where a rule is, and it has no words for what a pattern means.
 */
import type { RawObject } from "./valid-resources.ts";

export type InvalidResource = {
  readonly name: string;
  readonly given: RawObject;
  readonly wantPath: string;
  /** A part of our message. */
  readonly wantMessage: string;
  /** Where it differs from `wantPath`; null when the server refuses the request as a whole and names no field (HTTP 400). */
  readonly serverPath?: string | null;
  /** A part of the server's message, where it differs from `wantMessage`. */
  readonly serverMessage?: string;
};

/** A change that is refused, between two objects that are each valid. */
export type InvalidUpdate = {
  readonly name: string;
  readonly before: RawObject;
  readonly after: RawObject;
  readonly wantPath: string;
  readonly wantMessage: string;
};
