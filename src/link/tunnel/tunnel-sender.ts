/** What a cell sends in a tunnel. Ends with the response, with an error of the body, or with the signal of the client. */
import { unlessAborted } from "#kube-client";
import type { TunnelFrame } from "../protocol/generated/agent_pb.ts";
import { dataFrames, endFrame } from "./frames.ts";
import { ENDED, type TunnelFrames } from "./tunnel-types.ts";

export class TunnelSender {
  readonly #frames: TunnelFrames;
  readonly #done = new AbortController();
  readonly #stopListening: () => void;

  constructor(frames: TunnelFrames, client: AbortSignal) {
    this.#frames = frames;
    const onAbort = () => this.cancel("the client has gone");
    this.#stopListening = () => client.removeEventListener("abort", onAbort);
    client.addEventListener("abort", onAbort, { once: true });
    if (client.aborted) onAbort();
  }

  /** Aborted when nothing more is sent or read. */
  get signal(): AbortSignal {
    return this.#done.signal;
  }

  /** Waits for the peer. A tunnel that breaks is noticed by its reader. */
  async write(frame: TunnelFrame): Promise<void> {
    if (this.#done.signal.aborted) return;
    const written = this.#frames.write(frame).catch(() => this.#done.abort(ENDED));
    await unlessAborted(written, this.#done.signal);
  }

  /** Sends a body and its end. */
  sendAll(body: AsyncIterable<Uint8Array> | undefined): void {
    void this.#sendAll(body);
  }

  async #sendAll(body: AsyncIterable<Uint8Array> | undefined): Promise<void> {
    try {
      for await (const chunk of body ?? []) {
        for (const frame of dataFrames(chunk)) await this.write(frame);
        if (this.#done.signal.aborted) return;
      }
      await this.write(endFrame());
    } catch {
      this.cancel("the body of the request ended with an error");
    }
  }

  /** The response is complete. */
  end(): void {
    if (this.#done.signal.aborted) return;
    this.#finish();
    this.#frames.end();
  }

  cancel(reason: string): void {
    if (this.#done.signal.aborted) return;
    this.#finish();
    this.#frames.cancel(reason);
  }

  #finish(): void {
    this.#stopListening();
    this.#done.abort(ENDED);
  }
}
