/**
 * Faults in the bytes of a watch that an API server cannot produce itself: a line in two chunks, and a connection that breaks within
 * a line.
 */
import { err, ok, type Result } from "#base";
import type { KubeError, Transport, TransportResponse } from "#kube-client";

type Chunk = Result<Uint8Array, KubeError>;
export type StreamFault = "break" | "split";

const LINE = new TextEncoder().encode('{"type":"MODIFIED","object":{}}\n');

export class FaultyStreams {
  readonly #open = new Set<FaultyStream>();
  readonly #draw: () => StreamFault | undefined;

  /** `draw` is called for every chunk of every watch; by default there are no faults. */
  constructor(draw: () => StreamFault | undefined = () => undefined) {
    this.#draw = draw;
  }

  /** Breaks the watches that are open now. */
  break(): void {
    for (const stream of this.#open) stream.break();
  }

  transport(inner: Transport): Transport {
    return {
      close: () => inner.close(),
      send: async (request, signal) => {
        if (!request.path.includes("watch=")) return inner.send(request, signal);
        const closing = new AbortController();
        const answer = await inner.send(request, AbortSignal.any([signal, closing.signal]));
        if (!answer.ok) return answer;
        const stream = new FaultyStream(answer.value.body, () => closing.abort());
        return ok({ ...answer.value, body: this.#follow(stream) });
      },
    };
  }

  async *#follow(stream: FaultyStream): TransportResponse["body"] {
    this.#open.add(stream);
    try {
      for (let chunk = await stream.next(); chunk !== undefined; chunk = await stream.next()) {
        if (!chunk.ok) return yield chunk;
        const fault = this.#draw();
        if (fault === "break") stream.break();
        const middle = fault === undefined ? chunk.value.length : Math.floor(chunk.value.length / 2);
        yield ok(chunk.value.subarray(0, middle));
        if (fault === "split") yield ok(chunk.value.subarray(middle));
      }
    } finally {
      this.#open.delete(stream);
      stream.close();
    }
  }
}

class FaultyStream {
  readonly #body: AsyncIterator<Chunk>;
  readonly #abort: () => void;
  #broken = false;
  #pieces: Chunk[] = [ok(LINE.subarray(0, LINE.length / 2)), err({ kind: "network", message: "the connection was reset" })];
  #wake: (() => void) | undefined;

  constructor(body: AsyncIterable<Chunk>, abort: () => void) {
    this.#body = body[Symbol.asyncIterator]();
    this.#abort = abort;
  }

  close(): void {
    this.#abort();
    void this.#body.return?.();
  }

  break(): void {
    this.#broken = true;
    this.#wake?.();
  }

  async next(): Promise<Chunk | undefined> {
    if (this.#broken) return this.#pieces.shift();
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(this.#pieces.shift());
      this.#body.next().then(({ done, value }) => resolve(done === true ? undefined : value), reject);
    });
  }
}
