/** Everything that can go wrong between Lattice and an API server, as one union: code decides by `kind`, people read `message`. */
import { err, type Err } from "#base";
import { isStatus, type Status } from "#kube";

/** What kind of thing went wrong. */
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
  /** The server did not answer in time; whether a write took effect is not known. */
  | "timeout"
  /** The caller gave up (its signal fired). */
  | "cancelled"
  /** No connection, or it broke; whether a write took effect is not known unless nothing was sent. */
  | "network"
  /** What came back was not what an API server sends. */
  | "protocol";

/** What went wrong with a call: decide by `kind`, show `message`. */
export type KubeError = {
  readonly kind: KubeErrorKind;
  /** One line for people; never holds a header or a token. */
  readonly message: string;
  /** HTTP status, when there was an answer. */
  readonly code?: number;
  /** What the server said, when it said it as a Status. */
  readonly status?: Status;
  /** How long the server asked to be left alone. */
  readonly retryAfterMs?: number;
  /** "safe": the request never reached a server that acted on it. "useless": it fails the same way until somebody changes something. */
  readonly retry?: "safe" | "useless";
};

/** An error that no answer brought: made on this side of the wire. */
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

/** The error that an HTTP answer means. 409 is two things, told apart by the Status' reason. */
export function errorOfAnswer(code: number, body: unknown, retryAfter: string | undefined): KubeError {
  const status = isStatus(body) ? body : undefined;
  const kind =
    status?.reason === "AlreadyExists" ? "already-exists" : (BY_CODE.get(code) ?? (code >= 500 ? "server-error" : "bad-request"));
  const retryAfterMs = retryAfterOf(status, retryAfter);
  return {
    kind,
    message: status?.message ?? `the API server answered ${code}`,
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

/** The caller's `mayLeave` said no. */
export function notSent(): Err<KubeError> {
  return failure("cancelled", "not sent: the caller is no longer allowed to", "safe");
}
