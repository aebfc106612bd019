/** `kind: Status`: how an API server reports a failure. */
import { field, isJsonObject } from "./json.ts";

/** One cause in the details of a Status: the field, the reason and a message. */
export type StatusCause = { readonly reason?: string; readonly message?: string; readonly field?: string };

/** The result of a request that returns no object; mostly a failure. */
export type Status = {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
};

export function isStatus(value: unknown): value is Status {
  return isJsonObject(value) && field(value, "kind") === "Status" && typeof field(value, "status") === "string";
}
