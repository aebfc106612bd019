/** Two connected control streams in memory. Messages pass through the same bytes as on a socket, and arrive later, in order. */
import type { Result } from "#base";
import type { AgentMessage, CellCommand } from "./generated/agent_pb.ts";
import type { MessageStream, StreamClose, StreamListener } from "./message-stream.ts";
import { agentMessageCodec, cellCommandCodec, type WireCodec } from "./wire.ts";

export type MemoryStreams = {
  readonly agent: MessageStream<CellCommand, AgentMessage>;
  readonly cell: MessageStream<AgentMessage, CellCommand>;
};

export function memoryStreams(): MemoryStreams {
  const toAgent = new Direction<CellCommand>(cellCommandCodec);
  const toCell = new Direction<AgentMessage>(agentMessageCodec);
  return { agent: endOf(toAgent, toCell), cell: endOf(toCell, toAgent) };
}

function endOf<In, Out>(incoming: Direction<In>, outgoing: Direction<Out>): MessageStream<In, Out> {
  return {
    listen: (listener) => incoming.listen(listener),
    write: (message) => outgoing.send(message),
    queued: () => outgoing.queued,
    close(close) {
      outgoing.end(close);
      incoming.end(close);
    },
  };
}

type Waiting = { readonly bytes: Buffer } | { readonly close: StreamClose };

class Direction<T> {
  readonly #codec: WireCodec<T>;
  #waiting: Waiting[] = [];
  #listener: StreamListener<T> | undefined;
  #ended = false;
  #scheduled = false;

  constructor(codec: WireCodec<T>) {
    this.#codec = codec;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  listen(listener: StreamListener<T>): void {
    this.#listener = listener;
    this.#schedule();
  }

  send(message: T): void {
    if (this.#ended) return;
    this.#waiting.push({ bytes: this.#codec.encode(message) });
    this.#schedule();
  }

  end(close: StreamClose): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting.push({ close });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#listener === undefined) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const one of waiting) {
        if ("close" in one) this.#listener?.ended(one.close);
        else this.#listener?.message(this.#codec.decode(one.bytes) satisfies Result<T, string>);
      }
    });
  }
}
