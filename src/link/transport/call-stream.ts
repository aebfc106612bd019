/**
 * A gRPC call as a MessageStream. Both sides have the same interface to messages; they differ in how a call is ended and in which event reports it.
 *
 * grpc-js never ends a call of a server when its client does not read: `destroy` of the connection is the caller's last resort.
 */
import type { ClientDuplexStream, ServerDuplexStream } from "@grpc/grpc-js";
import type { MessageStream, StreamClose, StreamListener } from "../protocol/message-stream.ts";
import type { WireCodec } from "../protocol/wire.ts";
import { closeOfStatus, statusOfClose } from "./close-codes.ts";

export type CallCodecs<In, Out> = { readonly incoming: WireCodec<In>; readonly outgoing: WireCodec<Out> };

export function serverCallStream<In, Out>(call: ServerDuplexStream<Buffer, Buffer>, codecs: CallCodecs<In, Out>): MessageStream<In, Out> {
  const state = new EndedOnce<In>();
  call.on("error", () => {}); // the status of `close` is sent by a listener of grpc-js
  call.on("cancelled", () => state.end({ kind: "gone", reason: "the agent disconnected" }));
  call.on("end", () => {
    state.end({ kind: "gone", reason: "the agent ended the stream" });
    call.end();
  });
  return {
    listen: (listener) => listen(call, codecs.incoming, state, listener),
    write: (message) => void (state.hasEnded || call.write(codecs.outgoing.encode(message))),
    queued: () => call.writableLength,
    close(close) {
      if (state.hasEnded) return;
      state.end(close);
      call.emit("error", statusOfClose(close));
    },
  };
}

export function clientCallStream<In, Out>(call: ClientDuplexStream<Buffer, Buffer>, codecs: CallCodecs<In, Out>): MessageStream<In, Out> {
  const state = new EndedOnce<In>();
  call.on("error", () => {}); // the same status follows as an event of its own
  call.on("status", (status) => state.end(closeOfStatus(status)));
  return {
    listen: (listener) => listen(call, codecs.incoming, state, listener),
    write: (message) => void (state.hasEnded || call.write(codecs.outgoing.encode(message))),
    queued: () => call.writableLength,
    close(close) {
      if (state.hasEnded) return;
      state.end(close);
      call.cancel();
    },
  };
}

type ByteSource = { on(event: "data", listener: (bytes: Buffer) => void): unknown };

function listen<In>(call: ByteSource, codec: WireCodec<In>, state: EndedOnce<In>, listener: StreamListener<In>): void {
  state.listener = listener;
  call.on("data", (bytes) => {
    if (!state.hasEnded) listener.message(codec.decode(bytes));
  });
}

/** The end of a stream, which several events can report: the first one counts. */
class EndedOnce<In> {
  #close: StreamClose | undefined;
  #listener: StreamListener<In> | undefined;

  get hasEnded(): boolean {
    return this.#close !== undefined;
  }

  set listener(listener: StreamListener<In>) {
    this.#listener = listener;
    if (this.#close !== undefined) listener.ended(this.#close);
  }

  end(close: StreamClose): void {
    if (this.#close !== undefined) return;
    this.#close = close;
    this.#listener?.ended(close);
  }
}
