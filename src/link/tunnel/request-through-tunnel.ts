/** The cell's half of a tunnel: sends one request to an agent and returns the response as it arrives. */
import { err, ok, type Result } from "#base";
import { FrameReader, requestFrame } from "./frames.ts";
import { parseRequestHead } from "./request-head.ts";
import { readResponseHead, responseBody } from "./tunnel-response.ts";
import { TunnelSender } from "./tunnel-sender.ts";
import type { TunnelHeader } from "./tunnel-headers.ts";
import type { TunnelFrames } from "./tunnel-types.ts";

export type TunnelRequestInput = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Credentials and headers of the connection are removed here. */
  readonly headers: readonly TunnelHeader[];
  /** Not read any more after the response has ended. */
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  /** Whether the header `upgrade` has an effect. */
  readonly upgrade?: boolean | undefined;
};

export type TunnelAnswer = {
  readonly status: number;
  /** Without those of one connection. */
  readonly headers: readonly TunnelHeader[];
  /** To be read to its end, unless the signal is aborted. Never throws: a broken tunnel is an error as the last item. */
  readonly body: AsyncIterable<Result<Uint8Array, string>>;
  /** The accepted protocol. `body` then has the bytes of the peer, and `send` sends those of the client. */
  readonly upgrade: string | undefined;
  readonly send: (bytes: AsyncIterable<Uint8Array>) => void;
};

/** `invalid`: nothing was sent. */
export type TunnelRequestError = { readonly kind: "invalid" | "failed"; readonly message: string };

/** The tunnel ends with the body of the response, with an error, or when the signal is aborted. */
export async function requestThroughTunnel(
  frames: TunnelFrames,
  input: TunnelRequestInput,
  signal: AbortSignal,
): Promise<Result<TunnelAnswer, TunnelRequestError>> {
  const head = parseRequestHead(input);
  if (!head.ok) {
    frames.cancel("the request is invalid");
    return err({ kind: "invalid", message: head.error });
  }
  const { method, path, headers } = head.value;
  const upgrade = input.upgrade === true ? head.value.upgrade : undefined;
  const sender = new TunnelSender(frames, signal);
  await sender.write(requestFrame({ method, path, headers: upgrade === undefined ? headers : [...headers, ["upgrade", upgrade]] }));
  if (upgrade === undefined) sender.sendAll(input.body);
  const reader = new FrameReader(frames.read, sender.signal);
  const response = await readResponseHead(reader, { method, upgrade });
  if (!response.ok) {
    sender.cancel(response.error);
    return err({ kind: "failed", message: response.error });
  }
  return ok({ ...response.value, body: responseBody(reader, response.value, sender), send: (bytes) => sender.sendAll(bytes) });
}
