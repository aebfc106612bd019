/** Frames of a tunnel: how they are made and read. */
import { create } from "@bufbuild/protobuf";
import { unlessAborted } from "#kube-client";
import { TunnelFrameSchema, type HttpRequestHead, type HttpResponseHead, type TunnelFrame } from "../protocol/generated/agent_pb.ts";
import type { TunnelHeader } from "./tunnel-headers.ts";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";

/** The content of a frame. */
export type FrameContent = TunnelFrame["frame"];

const MAX_MESSAGE = 300;

export function requestFrame(head: {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly TunnelHeader[];
}): TunnelFrame {
  const { method, path } = head;
  const value = { method, path, headers: head.headers.map(([name, text]) => ({ name, value: text })) };
  return create(TunnelFrameSchema, { frame: { case: "requestHead", value } });
}

/** The headers of a frame. */
export function headersOf(head: HttpRequestHead | HttpResponseHead): readonly TunnelHeader[] {
  return head.headers.map(({ name, value }) => [name, value]);
}

export function responseFrame(status: number, headers: readonly TunnelHeader[]): TunnelFrame {
  return create(TunnelFrameSchema, {
    frame: { case: "responseHead", value: { status, headers: headers.map(([name, value]) => ({ name, value })) } },
  });
}

export function endFrame(): TunnelFrame {
  return create(TunnelFrameSchema, { frame: { case: "end", value: {} } });
}

export function failureFrame(message: string): TunnelFrame {
  return create(TunnelFrameSchema, { frame: { case: "failure", value: { message: message.slice(0, MAX_MESSAGE) } } });
}

/** A view of the chunk in each frame, not a copy. */
export function* dataFrames(chunk: Uint8Array): Generator<TunnelFrame> {
  for (let at = 0; at < chunk.byteLength; at += TUNNEL_LIMITS.frameBytes) {
    const value = chunk.subarray(at, at + TUNNEL_LIMITS.frameBytes);
    yield create(TunnelFrameSchema, { frame: { case: "data", value } });
  }
}

/** The text of a peer's failure, as one short line. */
export function failureText(message: string): string {
  const text = message.replace(/[^\u0020-\u007e\u00a0-\uffff]+/g, " ").trim();
  return text === "" ? "The request failed without a reason." : text.slice(0, MAX_MESSAGE);
}

/** Reads frames one at a time; nothing is read ahead, so that a peer waits for the reader. */
export class FrameReader {
  readonly #frames: AsyncIterator<TunnelFrame>;
  readonly #signal: AbortSignal | undefined;
  #unread: FrameContent | undefined;

  /** The signal ends the reader, whether or not it ends the frames. */
  constructor(frames: AsyncIterable<TunnelFrame>, signal?: AbortSignal) {
    this.#frames = frames[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /** Undefined: the call is completed or cancelled. */
  next(): Promise<FrameContent | undefined> {
    return this.#signal === undefined ? this.#next() : unlessAborted(this.#next(), this.#signal);
  }

  async #next(): Promise<FrameContent | undefined> {
    const unread = this.#unread;
    this.#unread = undefined;
    if (unread !== undefined) return unread;
    try {
      const { done, value } = await this.#frames.next();
      return done === true ? undefined : value.frame;
    } catch {
      // a cancelled call of gRPC ends with an exception
      return undefined;
    }
  }

  /** The next call of `next` returns this frame. */
  unread(frame: FrameContent): void {
    this.#unread = frame;
  }
}
