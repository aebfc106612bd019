/**
 * Events of one watch, between the store that calls and the client that reads at its own pace.
 *
 * A client that does not keep up is cut off, as on a real server: it comes back with the last version it saw. Otherwise the memory of the
 * server would belong to its slowest reader.
 */
export const MAX_WAITING = 10_000;

export class WatchFeed implements AsyncIterable<string> {
  readonly #waiting: (() => string | undefined)[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** The text is made when it is read: a watch that nobody reads costs no JSON. `undefined` is nothing to send. */
  push(text: () => string | undefined): void {
    if (this.#ended) return;
    this.#waiting.push(text);
    if (this.#waiting.length > MAX_WAITING) this.end();
    this.#wake?.();
  }

  /** What is waiting is still read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    try {
      for (;;) {
        while (this.#waiting.length > 0) {
          const texts = this.#waiting.splice(0).map((make) => make() ?? "");
          const chunk = texts.join("");
          if (chunk !== "") yield chunk;
        }
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.end();
    }
  }
}
