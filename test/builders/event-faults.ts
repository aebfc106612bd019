/**
 * An interceptor that disturbs the events of watches, one drawn fault per event.
 *
 * An event that is held back (`reorder`) is always delivered before the watch ends or a bookmark passes: otherwise a client that resumes
 * after the later event could never learn of the earlier one, and no real server does that.
 */
import type { Interceptor } from "#embedded-cluster";
import { fieldAt, type Json, type JsonObject } from "#kube";

export type EventFault =
  /** The server closes the watch. */
  | "end"
  /** An ERROR event with 410: the client must list again. */
  | "gone"
  /** The watch stays open and delivers nothing more. */
  | "stall"
  | "duplicate"
  /** This event is delivered after the next one of another object. */
  | "reorder"
  /** The object's previous version is delivered again after this one, which Kubernetes rules out. */
  | "rewind";

const EXPIRED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Expired", message: "too old", code: 410 };

export type EventFaults = {
  readonly draw: () => EventFault | undefined;
  /** Called with true before an event that was held back is delivered, and with false after it. */
  readonly onLateEvent?: (isLate: boolean) => void;
};

export function faultyEvents(faults: EventFaults): Interceptor {
  return async (_action, next, { signal }) => {
    const answer = await next();
    return answer.kind === "watch" ? { kind: "watch", events: new FaultyWatch(faults, signal).follow(answer.events) } : answer;
  };
}

class FaultyWatch {
  readonly #faults: EventFaults;
  readonly #signal: AbortSignal;
  readonly #last = new Map<string, Json>();
  #held: Json | undefined;

  constructor(faults: EventFaults, signal: AbortSignal) {
    this.#faults = faults;
    this.#signal = signal;
  }

  async *follow(events: AsyncIterable<Json>): AsyncGenerator<Json, void> {
    for await (const event of events) {
      if (!isChange(event)) {
        yield* this.#release();
        yield event;
        continue;
      }
      const fault = this.#faults.draw();
      const before = this.#note(event);
      if (fault === "reorder" && this.#held === undefined) {
        this.#held = event;
        continue;
      }
      if (this.#held !== undefined && uidOf(this.#held) === uidOf(event)) yield* this.#release();
      if (fault === "end" || fault === "gone" || fault === "stall") return yield* this.#interrupt(fault);
      yield event;
      if (fault === "duplicate") yield event;
      if (fault === "rewind" && before !== undefined) yield { type: "MODIFIED", object: before };
      yield* this.#release();
    }
    yield* this.#release();
  }

  /** The object's version before this event. */
  #note(event: Json): Json | undefined {
    const uid = uidOf(event);
    const before = this.#last.get(uid);
    this.#last.set(uid, (event as JsonObject)["object"] ?? null);
    return before;
  }

  *#release(): Generator<Json, void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    this.#faults.onLateEvent?.(true);
    try {
      yield held;
    } finally {
      this.#faults.onLateEvent?.(false);
    }
  }

  async *#interrupt(fault: "end" | "gone" | "stall"): AsyncGenerator<Json, void> {
    yield* this.#release();
    if (fault === "gone") yield { type: "ERROR", object: EXPIRED };
    if (fault === "stall" && !this.#signal.aborted) {
      await new Promise((resolve) => this.#signal.addEventListener("abort", resolve, { once: true }));
    }
  }
}

function isChange(event: Json): boolean {
  const type = fieldAt(event, "type");
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED";
}

function uidOf(event: Json): string {
  const uid = fieldAt(event, "object", "metadata", "uid");
  return typeof uid === "string" ? uid : "";
}
