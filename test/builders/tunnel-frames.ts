/** Tunnels in memory: both ends of a call, with a window of frames that may wait for their reader. */
import type { TunnelFrames } from "#link";

type Frame = Parameters<TunnelFrames["write"]>[0];

/** One direction. `most`: how many frames have waited at once. */
class Pipe {
  readonly #window: number;
  readonly #waiting: Frame[] = [];
  #isEnded = false;
  #isCancelled = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;
  most = 0;

  constructor(window: number) {
    this.#window = window;
  }

  async write(frame: Frame): Promise<void> {
    if (this.#isCancelled || this.#isEnded) throw new Error("the call has ended");
    this.#waiting.push(frame);
    this.most = Math.max(this.most, this.#waiting.length);
    this.#wakeReader?.();
    while (this.#waiting.length >= this.#window && !this.#isCancelled) await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
    if (this.#isCancelled) throw new Error("the call was cancelled");
  }

  async *read(): AsyncGenerator<Frame> {
    for (;;) {
      if (this.#isCancelled) throw new Error("the call was cancelled");
      const frame = this.#waiting.shift();
      this.#wakeWriter?.();
      if (frame !== undefined) yield frame;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeReader?.();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#wakeReader?.();
    this.#wakeWriter?.();
  }
}

export type TunnelPair = {
  readonly cell: TunnelFrames;
  readonly agent: TunnelFrames;
  /** Reasons, in their order. */
  readonly cancelled: readonly string[];
  /** The most frames that have waited at once, in either direction. */
  most(): number;
};

/** As in gRPC, the cell's `end` completes the call for both, the agent's `end` only its own direction. */
export function tunnelPair(window = 4): TunnelPair {
  const [down, up] = [new Pipe(window), new Pipe(window)];
  const cancelled: string[] = [];
  const cancel = (reason: string) => {
    cancelled.push(reason);
    down.cancel();
    up.cancel();
  };
  const cell: TunnelFrames = {
    read: up.read(),
    write: (frame) => down.write(frame),
    end: () => {
      down.end();
      up.cancel();
    },
    cancel,
  };
  const agent: TunnelFrames = { read: down.read(), write: (frame) => up.write(frame), end: () => up.end(), cancel };
  return { cell, agent, cancelled, most: () => Math.max(down.most, up.most) };
}
