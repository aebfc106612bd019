/**
 * A simulated process for leader election: with its own wall clock, a network between it and the API server, and a
 * scheduler that may stop it at any time. A test has many of them on one FakeClock.
 *
 * A paused process runs no timers and receives no responses; its wall clock continues. Requests sent before still reach the
 * server: the latency is in the network, and cancelling a request does not revoke it.
 */
import { err, sleep, type Clock, type FakeClock, type Result } from "#base";
import type { KubeError, Transport, TransportResponse, TransportRequest } from "#kube-client";

export type ProcessOptions = {
  readonly clock: FakeClock;
  readonly random: () => number;
  /** Offset of its wall clock. */
  readonly skewMs?: number;
  /** Maximum latency of a request, and of a response. */
  readonly latencyMs?: number;
};

type Sent = Result<TransportResponse, KubeError>;

export class SimulatedProcess {
  readonly #options: ProcessOptions;
  readonly #held: (() => void)[] = [];
  #gate: Promise<void> | undefined;
  #open: () => void = () => {};
  #pausedAt: number | undefined;
  #asleepMs = 0;
  #network: "well" | "cut" | "answers lost" = "well";

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  readonly clock: Clock = {
    now: () => this.#options.clock.now() + (this.#options.skewMs ?? 0),
    monotonic: () => this.#options.clock.monotonic() - this.#asleepMs,
    after: (ms, callback) =>
      this.#options.clock.after(ms, () => {
        if (this.#gate === undefined) callback();
        else this.#held.push(callback);
      }),
  };

  pause(): void {
    this.#pausedAt = this.#options.clock.monotonic();
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** `asleep`: the machine slept, so its monotonic clock stood still. Timers that are overdue go first, as in Node. */
  async resume(how: "process stopped" | "machine asleep", first: "timers" | "network" = "timers"): Promise<void> {
    if (how === "machine asleep") this.#asleepMs += this.#options.clock.monotonic() - (this.#pausedAt ?? 0);
    this.#gate = undefined;
    if (first === "network") await this.#hear();
    for (const callback of this.#held.splice(0)) {
      callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#hear();
  }

  network(state: "well" | "cut" | "answers lost"): void {
    this.#network = state;
  }

  transport(inner: Transport): Transport {
    return { close: () => inner.close(), send: (request, signal) => this.#send(inner, request, signal) };
  }

  async #hear(): Promise<void> {
    this.#open();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #send(inner: Transport, request: TransportRequest, signal: AbortSignal): Promise<Sent> {
    if (this.#network === "cut") return broken();
    const never = new AbortController().signal;
    await this.#travel();
    const answer = await inner.send(request, request.method === "GET" ? signal : never);
    await this.#travel();
    await this.#gate;
    if (signal.aborted) return err({ kind: "cancelled", message: "the caller cancelled the request" });
    if (this.#network !== "well") return broken();
    return answer.ok ? { ok: true, value: { ...answer.value, body: this.#body(answer.value.body) } } : answer;
  }

  async #travel(): Promise<void> {
    const { clock, random, latencyMs = 0 } = this.#options;
    if (latencyMs > 0) await sleep(clock, random() * latencyMs, new AbortController().signal);
  }

  async *#body(body: TransportResponse["body"]): TransportResponse["body"] {
    for await (const piece of body) {
      await this.#gate;
      if (this.#network !== "well") return yield broken();
      yield piece;
    }
  }
}

function broken(): { ok: false; error: KubeError } {
  return err({ kind: "network", message: "the connection was reset" });
}
