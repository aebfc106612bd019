/**
 * One open watch: changes go in, lines come out, and its faults happen on the way.
 *
 * An event that is held back (`reorder`) is always let go before the stream ends: otherwise a client that resumes after the
 * later event could never learn of the earlier one, and no real server does that.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { KubeError } from "#kube-client";
import type { KubeObject } from "#kube";
import type { Faults, StreamFault } from "./faults.ts";
import { statusOf } from "./status-answer.ts";
import type { Change } from "./store.ts";

const HOLD_MS = 10;

type Chunk = Result<Uint8Array, KubeError>;
type Options = {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly selects: (object: KubeObject) => boolean;
  readonly actor: string;
  readonly path: string;
};

export class WatchStream {
  readonly actor: string;
  readonly path: string;
  readonly #options: Options;
  readonly #chunks: Chunk[] = [];
  readonly #onClose: (() => void)[] = [];
  #held: { readonly key: string; readonly line: string; readonly cancel: () => void } | undefined;
  #stalled = false;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.actor = options.actor;
    this.path = options.path;
  }

  /** Called once, when the watch is over, whoever ended it; at once if it is over already. */
  onClose(callback: () => void): void {
    if (this.#closed) callback();
    else this.#onClose.push(callback);
  }

  offer(change: Change): void {
    const event = this.#eventOf(change);
    if (event === undefined || this.#closed || this.#stalled) return;
    const line = lineOf(event.type, event.object);
    const fault = this.#options.faults.forEvent();
    if (fault === "reorder" && this.#held === undefined) return this.#hold(change.key, line);
    if (this.#held?.key === change.key) this.#release();
    if (fault === "end" || fault === "break" || fault === "gone" || fault === "stall") return this.interrupt(fault, line);
    this.#emit(line, fault === "split");
    if (fault === "duplicate") this.#emit(line);
    if (fault === "rewind" && change.before !== undefined) this.#emit(lineOf("MODIFIED", change.before));
    this.#release();
  }

  bookmark(kind: string, apiVersion: string, revision: number): void {
    if (this.#closed || this.#stalled) return;
    this.#release();
    this.#emit(lineOf("BOOKMARK", { kind, apiVersion, metadata: { resourceVersion: String(revision) } }));
  }

  /** Ends or silences the watch now. `line` is what was on its way: a break sends half of it, the others none. */
  interrupt(how: Extract<StreamFault, "end" | "break" | "gone" | "stall">, line = '{"type":"MODIFIED","object":{}}\n'): void {
    this.#release();
    if (how === "stall") {
      this.#stalled = true;
      return;
    }
    if (how === "gone") this.#emit(lineOf("ERROR", statusOf(410, "too old resource version")));
    if (how === "break") {
      this.#emit(line.slice(0, line.length / 2));
      this.#chunks.push(err({ kind: "network", message: "the connection was reset" }));
    }
    this.close();
  }

  /** The server's own time limit; a watch that has stalled does not even end. */
  expire(): void {
    if (!this.#stalled) this.close();
  }

  /** What was written before is still delivered. */
  close(): void {
    if (this.#closed) return;
    this.#release();
    this.#closed = true;
    for (const callback of this.#onClose) callback();
    this.#wake?.();
  }

  async *body(): AsyncGenerator<Chunk> {
    try {
      while (true) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.#closed) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  /** An object that begins or ceases to be selected is added or deleted as far as this watch is concerned. */
  #eventOf({ before, after, last }: Change): { type: string; object: KubeObject } | undefined {
    const was = before !== undefined && this.#options.selects(before);
    const is = after !== undefined && this.#options.selects(after);
    if (!was && !is) return undefined;
    return { type: is ? (was ? "MODIFIED" : "ADDED") : "DELETED", object: last };
  }

  #hold(key: string, line: string): void {
    this.#held = { key, line, cancel: this.#options.clock.after(HOLD_MS, () => this.#release()) };
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.cancel();
    if (held !== undefined) this.#emit(held.line);
  }

  #emit(line: string, split = false): void {
    if (this.#closed || this.#stalled) return;
    const bytes = new TextEncoder().encode(line);
    const middle = split ? Math.floor(bytes.length / 2) : bytes.length;
    this.#chunks.push(ok(bytes.subarray(0, middle)));
    if (split) this.#chunks.push(ok(bytes.subarray(middle)));
    this.#wake?.();
  }
}

function lineOf(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}
