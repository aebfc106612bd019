/** Reasons of the link as gRPC status codes, and back: the reason is the text of the status. */
import { status } from "@grpc/grpc-js";
import type { StreamClose, StreamCloseKind } from "../protocol/message-stream.ts";

const CODES: Readonly<Record<StreamCloseKind, status>> = {
  refused: status.PERMISSION_DENIED,
  stale: status.FAILED_PRECONDITION,
  invalid: status.INVALID_ARGUMENT,
  busy: status.RESOURCE_EXHAUSTED,
  late: status.DEADLINE_EXCEEDED,
  gone: status.UNAVAILABLE,
};
const KINDS: ReadonlyMap<status, StreamCloseKind> = new Map(
  (["refused", "stale", "invalid", "busy", "late", "gone"] as const).map((kind) => [CODES[kind], kind]),
);

export type CallStatus = { readonly code: status; readonly details: string };

export function statusOfClose({ kind, reason }: StreamClose): CallStatus {
  return { code: CODES[kind], details: reason };
}

export function closeOfStatus({ code, details }: CallStatus): StreamClose {
  // grpc-js adds this heading to every failed connection, also when it has no text for it
  const reason = details.replace(/\.? *Resolution note: *$/, "");
  return { kind: KINDS.get(code) ?? "gone", reason: reason === "" || code === status.OK ? "the peer ended the stream" : reason };
}
