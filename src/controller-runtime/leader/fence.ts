/**
 * The fence: a leader that cannot prove, by its own clocks, that it still holds the lease does not write.
 *
 * The proof counts from the time *before* the last successful renewal was sent, and on two clocks: the monotonic one stops
 * while a virtual machine is suspended, the wall clock does not. The clock that has advanced further counts. A fence that has failed
 * never allows writes again; the next term gets a new one, so work left over from an old term can never write.
 */
import type { Clock } from "#base";
import type { KubeError, KubeErrorKind } from "#kube-client";

/** The checks of a fenced client before each write. */
export interface Fence {
  /** Fires when the fence fails. */
  readonly signal: AbortSignal;
  /** How long writes are allowed from now; 0 when they are not. */
  remainingMs(): number;
  /** Begins a write; the returned function records its result. */
  begin(): (error: KubeError | undefined) => void;
}

export type ClockReading = { readonly monotonic: number; readonly wall: number };

export function readClocks(clock: Clock): ClockReading {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/** After these errors it is unknown whether the server will still execute the write. */
const IN_DOUBT: ReadonlySet<KubeErrorKind> = new Set(["timeout", "cancelled", "network", "protocol"]);

export class LeaseFence implements Fence {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #fallen = new AbortController();
  #provenAt: ClockReading;
  #cancelTimer: () => void = () => {};
  #underWay = 0;
  #inDoubt = false;

  /** `provenAt`: taken before the request that won or renewed the lease was sent. */
  constructor(clock: Clock, deadlineMs: number, provenAt: ClockReading) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#provenAt = provenAt;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#fallen.signal;
  }

  /** No write is under way and none ended without a response: no write of ours can be executed any more. */
  get quiet(): boolean {
    return this.#underWay === 0 && !this.#inDoubt;
  }

  remainingMs(): number {
    if (this.signal.aborted) return 0;
    const now = readClocks(this.#clock);
    const passed = Math.max(now.monotonic - this.#provenAt.monotonic, now.wall - this.#provenAt.wall);
    if (passed < this.#deadlineMs) return this.#deadlineMs - passed;
    this.fall();
    return 0;
  }

  /** The lease was renewed by a request sent at `provenAt`. A fence that has failed stays failed. */
  extend(provenAt: ClockReading): void {
    if (this.remainingMs() === 0) return;
    this.#provenAt = provenAt;
    this.#arm();
  }

  fall(): void {
    this.#cancelTimer();
    this.#fallen.abort();
  }

  begin(): (error: KubeError | undefined) => void {
    this.#underWay += 1;
    return (error) => {
      this.#underWay -= 1;
      if (error !== undefined && error.retry !== "safe" && IN_DOUBT.has(error.kind)) this.#inDoubt = true;
    };
  }

  #arm(): void {
    this.#cancelTimer();
    const left = this.remainingMs();
    if (left > 0) this.#cancelTimer = this.#clock.after(Math.ceil(left), () => this.#expire());
  }

  /** A wall clock that was set back extends the time; the timer alone does not decide. */
  #expire(): void {
    if (this.remainingMs() > 0) this.#arm();
  }
}

/** For a manager without leader election: it may always write. */
export function openFence(signal: AbortSignal): Fence {
  return { signal, remainingMs: () => (signal.aborted ? 0 : Number.POSITIVE_INFINITY), begin: () => () => {} };
}
