/**
 * Decides what a signal does: the first one stops the command in order, a later one exits at once.
 *
 * One Ctrl-C reaches the program several times: from the terminal, which signals the whole process group, from npm and from
 * scripts/run.cjs, which forward it. So signals within a second count once.
 */
import type { RepeatHandler, StopSignalName } from "#cli";

export type { StopSignalName };

const SAME_WITHIN_MS = 1_000;
const INTERRUPTED = 130;

export type SignalPorts = { readonly monotonic: () => number; readonly exit: (code: number) => void };

export class StopSignals {
  readonly #ports: SignalPorts;
  readonly #stop = new AbortController();
  #countedAt: number | undefined;
  #handler: RepeatHandler | undefined;

  constructor(ports: SignalPorts) {
    this.#ports = ports;
  }

  /** Fires at the first signal; its reason is the name of the signal. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  receive(name: StopSignalName): void {
    const now = this.#ports.monotonic();
    if (this.#countedAt !== undefined && now - this.#countedAt < SAME_WITHIN_MS) return;
    // the terminal of a program that stops may be closed; that is no request to hurry
    if (this.signal.aborted && name === "SIGHUP") return;
    this.#countedAt = now;
    if (!this.signal.aborted) return this.#stop.abort(name);
    if (this.#handler?.(name) !== "wait") this.#ports.exit(INTERRUPTED);
  }

  /** `handler` decides about repeated signals until the returned function is called. */
  handle(handler: RepeatHandler): () => void {
    this.#handler = handler;
    return () => {
      if (this.#handler === handler) this.#handler = undefined;
    };
  }

  /** The reader of the output is gone (`lattice crds | head`), or the terminal. */
  outputLost(): void {
    if (this.signal.aborted) return;
    if (this.#handler === undefined) this.#ports.exit(0);
    else this.#stop.abort("SIGHUP");
  }
}
