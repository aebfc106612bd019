/** The errors of calls to an API server, as one union: code decides by `kind`, `message` is for users. */
import { err, type Err } from "#base";
import { isStatus, type Status } from "#kube";

/** The kind of an error. */
export type KubeErrorKind =
  | "bad-request"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "already-exists"
  | "conflict"
  | "gone"
  | "invalid"
  | "too-many-requests"
  | "unsupported-media-type"
  | "server-error"
  | "unavailable"
  /** The server did not respond in time; whether a write took effect is not known. */
  | "timeout"
  /** The caller aborted (its signal fired). */
  | "cancelled"
  /** No connection, or it broke; whether a write took effect is not known unless nothing was sent. */
  | "network"
  /** The response is not one of an API server. */
  | "protocol";

/** The error of a call: decide by `kind`, show `message`. */
export type KubeError = {
  readonly kind: KubeErrorKind;
  /** One line for users; never contains a header or a token. */
  readonly message: string;
  /** HTTP status, if there was a response. */
  readonly code?: number;
  /** The Status of the response, if it has one. */
  readonly status?: Status;
  /** The Retry-After of the server. */
  readonly retryAfterMs?: number;
  /** "safe": the request never reached a server that acted on it. "useless": it fails until the configuration changes. */
  readonly retry?: "safe" | "useless";
};

/** An error without a response: made by the client. */
export function failure(kind: KubeErrorKind, message: string, retry?: "safe" | "useless"): Err<KubeError> {
  return err(retry === undefined ? { kind, message } : { kind, message, retry });
}

const BY_CODE = new Map<number, KubeErrorKind>([
  [400, "bad-request"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not-found"],
  [409, "conflict"],
  [410, "gone"],
  [415, "unsupported-media-type"],
  [422, "invalid"],
  [429, "too-many-requests"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "timeout"],
]);

/** The error of an HTTP response. 409 is two kinds, distinguished by the reason of the Status. */
export function errorOfResponse(code: number, body: unknown, retryAfter: string | undefined): KubeError {
  const status = isStatus(body) ? body : undefined;
  const kind =
    status?.reason === "AlreadyExists" ? "already-exists" : (BY_CODE.get(code) ?? (code >= 500 ? "server-error" : "bad-request"));
  const retryAfterMs = retryAfterOf(status, retryAfter);
  return {
    kind,
    message: status?.message ?? `the API server returned ${code}`,
    code,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function retryAfterOf(status: Status | undefined, header: string | undefined): number | undefined {
  if (header !== undefined && /^[0-9]{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const seconds = status?.details?.retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** The caller's `mayLeave` returned false. */
export function notSent(): Err<KubeError> {
  return failure("cancelled", "not sent: the caller is no longer allowed to", "safe");
}
