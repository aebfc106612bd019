/**
 * The types between the control stream and the tunnel of API requests. A tunnel is a stream of frames in both directions, whatever carries it:
 * gRPC in production, memory in tests.
 */
import type { Result } from "#base";
import type { TunnelFrame } from "../protocol/generated/agent_pb.ts";

export type TunnelFrames = {
  readonly read: AsyncIterable<TunnelFrame>;
  /** Resolves when the peer can take more, or when the tunnel has ended. */
  write(frame: TunnelFrame): Promise<void>;
  /** No more frames from this side. */
  end(): void;
  /** Ends both directions at once; `read` ends too. */
  cancel(reason: string): void;
};

export type TunnelOpenError = { readonly kind: "not-connected" | "refused" | "timeout"; readonly message: string };

/** Asks the agent of a cluster for a tunnel, and waits for it. */
export type OpenTunnel = (cluster: string, signal: AbortSignal) => Promise<Result<TunnelFrames, TunnelOpenError>>;

/** The child's own API server, and the agent's credential there. */
export type TunnelTarget = { readonly url: string; readonly ca: string; authorization(): Promise<string | undefined> };
