/**
 * A gRPC call as the frames of a tunnel, with back-pressure in both directions: `write` resolves when HTTP/2 took the frame, and frames are read from
 * the call only when the consumer asks for one.
 *
 * A gRPC server cannot end its own direction alone: its status ends the whole call. When the agent has ended, the server ends too.
 */
import { status, type ClientDuplexStream, type ServerDuplexStream } from "@grpc/grpc-js";
import type { TunnelFrame } from "../protocol/generated/agent_pb.ts";
import { tunnelFrameCodec } from "../protocol/wire.ts";
import type { TunnelFrames } from "../tunnel/tunnel-types.ts";

type ServerCall = ServerDuplexStream<Buffer, Buffer>;
type ClientCall = ClientDuplexStream<Buffer, Buffer>;

/** `closed` is called once, when no more frames can pass in either direction. */
export function serverCallFrames(call: ServerCall, closed: () => void): TunnelFrames {
  const frames = new CallFrames(call, {
    end: () => void call.end(),
    readEnded: () => void call.end(),
    cancel: (reason) => void call.emit("error", { code: status.CANCELLED, details: reason }),
    closed,
  });
  call.on("cancelled", () => frames.close());
  call.on("finish", () => frames.close());
  return frames;
}

export function clientCallFrames(call: ClientCall, closed: () => void): TunnelFrames {
  const frames = new CallFrames(call, { end: () => call.end(), readEnded: () => {}, cancel: () => call.cancel(), closed });
  call.on("status", () => frames.close());
  return frames;
}

type CallSide = {
  end(): void;
  readEnded(): void;
  cancel(reason: string): void;
  closed(): void;
};

class CallFrames implements TunnelFrames {
  readonly read: AsyncIterable<TunnelFrame>;
  readonly #call: ServerCall | ClientCall;
  readonly #side: CallSide;
  readonly #writers = new Set<() => void>();
  #isEnded = false;
  #isClosed = false;

  constructor(call: ServerCall | ClientCall, side: CallSide) {
    this.#call = call;
    this.#side = side;
    call.on("error", () => this.close());
    const iterator = this.#frames();
    this.read = { [Symbol.asyncIterator]: () => iterator };
  }

  write(frame: TunnelFrame): Promise<void> {
    if (this.#isEnded || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#writers.delete(done);
        resolve();
      };
      this.#writers.add(done);
      this.#call.write(tunnelFrameCodec.encode(frame), done);
    });
  }

  end(): void {
    if (this.#isEnded || this.#isClosed) return;
    this.#isEnded = true;
    this.#side.end();
  }

  cancel(reason: string): void {
    if (this.#isClosed) return;
    this.#side.cancel(reason);
    this.close();
  }

  /** A write that waits must not wait for ever: grpc-js does not call back for a cancelled call. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const done of this.#writers) done();
    this.#side.closed();
  }

  async *#frames(): AsyncGenerator<TunnelFrame, void, void> {
    let isComplete = false;
    try {
      // a destroyed call of a server would send no status
      for await (const bytes of this.#call.iterator({ destroyOnReturn: false })) {
        const frame = tunnelFrameCodec.decode(bytes as Buffer);
        if (!frame.ok) return this.cancel(frame.error);
        yield frame.value;
      }
      isComplete = true;
    } catch {
      // the call was cancelled by one of the sides
    } finally {
      if (isComplete) this.#side.readEnded();
      else this.cancel("the reader stopped");
    }
  }
}
