/**
 * Disconnects clients that do not read their response: the response, or all events of a watch, would stay in memory for ever.
 *
 * All writers are checked at an interval, instead of a timer for each response: nearly all responses are sent at once. A writer makes
 * progress when fewer bytes wait than at the last check; a response of one piece counts as waiting until all of it is sent.
 *
 * The interval is a part of the allowed time: an idle server with many watches would otherwise do little else.
 */
import type { Clock } from "#base";
import type { ListenerLimits } from "./limits.ts";

/** A socket, or a stream of HTTP/2. */
export type GuardedWriter = { readonly writableLength: number; once(event: "close", listener: () => void): unknown };

type Progress = { readonly disconnect: () => void; waiting: number; checksWithoutProgress: number };
/** So many checks fit into the allowed time, unless they would be more frequent than other checks. */
const CHECKS = 12;

type StallLimits = Pick<ListenerLimits, "checkMs" | "stallMs">;

export class StalledWrites {
  readonly #writers = new Map<GuardedWriter, Progress>();
  readonly #limits: StallLimits;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #cancel: (() => void) | undefined;

  constructor(limits: StallLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#intervalMs = Math.max(limits.checkMs, limits.stallMs / CHECKS);
  }

  add(writer: GuardedWriter, disconnect: () => void): void {
    this.#writers.set(writer, { disconnect, waiting: 0, checksWithoutProgress: 0 });
    writer.once("close", () => this.#writers.delete(writer));
    this.#cancel ??= this.#clock.after(this.#intervalMs, () => this.#check());
  }

  close(): void {
    this.#cancel?.();
    this.#writers.clear();
  }

  #check(): void {
    const allowed = Math.ceil(this.#limits.stallMs / this.#intervalMs);
    for (const [writer, progress] of this.#writers) {
      const waiting = writer.writableLength;
      const isStalled = waiting > 0 && waiting >= progress.waiting && progress.waiting > 0;
      progress.checksWithoutProgress = isStalled ? progress.checksWithoutProgress + 1 : 0;
      progress.waiting = waiting;
      if (progress.checksWithoutProgress >= allowed) progress.disconnect();
    }
    this.#cancel = this.#writers.size === 0 ? undefined : this.#clock.after(this.#intervalMs, () => this.#check());
  }
}
