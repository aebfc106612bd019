/** A control stream as both halves use it: gRPC in production, memory in tests. */
import type { Result } from "#base";

/**
 * Why a stream ends. "refused": the peer must not speak (certificate, revocation); "stale": a newer stream exists; "invalid": a message breaks the
 * protocol; "busy": a limit; "late": a deadline passed; "gone": the peer or the network ended it.
 */
export type StreamCloseKind = "refused" | "stale" | "invalid" | "busy" | "late" | "gone";

/** `reason`: one sentence for a user. */
export type StreamClose = { readonly kind: StreamCloseKind; readonly reason: string };

export type StreamListener<In> = {
  /** An error: the bytes are not a message. */
  message(message: Result<In, string>): void;
  /** Once, after the last message; also after `close` of this side. */
  ended(close: StreamClose): void;
};

export type MessageStream<In, Out> = {
  /** Must be called once; messages that arrive before it wait. */
  listen(listener: StreamListener<In>): void;
  /** After the end it does nothing. */
  write(message: Out): void;
  /** The number of written messages that are not sent yet. */
  queued(): number;
  close(close: StreamClose): void;
};
