/**
 * What is shared between a tunnel and the calls that carry it. A tunnel is one HTTP request; gRPC carries it between processes, arrays in tests.
 *
 * `end` completes the whole call, not one direction: a gRPC server that ends its call also ends what the client may send. The end of one
 * direction is a `TunnelEnd` frame. Of the frames, `open` is sent and read by the code that matches calls with `openTunnel`.
 */
import type { Result, Sensitive } from "#base";
import type { TunnelFrame } from "../protocol/generated/agent_pb.ts";

/** The reason of an abort in a tunnel: without one, `abort` makes an exception with a stack trace, several for each request. */
export const ENDED = "ended";

/** One end of a tunnel. */
export type TunnelFrames = {
  /** Read once. Ends, or throws, when the other end has completed or cancelled the call. */
  readonly read: AsyncIterable<TunnelFrame>;
  /** Resolves when the peer can take more. The next call comes after that. */
  write(frame: TunnelFrame): Promise<void>;
  end(): void;
  /** Ends the call for both ends at once; frames that are on their way may be lost. */
  cancel(reason: string): void;
};

export type TunnelOpenError = { readonly kind: "not-connected" | "refused" | "timeout"; readonly message: string };

/** Opens a tunnel to the API server of a child. An abort of the signal before the tunnel is open ends the attempt. */
export type OpenTunnel = (cluster: string, signal: AbortSignal) => Promise<Result<TunnelFrames, TunnelOpenError>>;

/** The API server of the agent's own cluster, and the agent's credential there. */
export type TunnelTarget = {
  /** `https://host:port`; a tunnel reaches nothing else. */
  readonly url: string;
  /** PEM, one or several. */
  readonly ca: string;
  /** The value of the header Authorization. */
  authorization(): Promise<string | undefined>;
  /** PEM, for an API server that identifies the agent by a client certificate. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: Sensitive<string> } | undefined;
};
