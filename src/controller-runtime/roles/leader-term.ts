/**
 * One term of leadership: the fenced client, when it ends, and the work that belongs to it. The lease is released only after all of that work has
 * ended.
 */
import type { KubeClient } from "#kube-client";
import type { EventNote } from "../events/event.ts";
import { aborted } from "../signals.ts";

export type LeaderTermOptions = {
  /** Fenced. */
  readonly client: KubeClient;
  readonly record: (note: EventNote) => void;
  /** Fires when the lease is lost: work must end at once. */
  readonly lost: AbortSignal;
  /** Fires when the term ends, gracefully or because the lease is lost. */
  readonly over: AbortSignal;
};

export class LeaderTerm {
  readonly client: KubeClient;
  readonly record: (note: EventNote) => void;
  readonly lost: AbortSignal;
  readonly over: AbortSignal;
  readonly #work = new Set<Promise<void>>();

  constructor({ client, record, lost, over }: LeaderTermOptions) {
    this.client = client;
    this.record = record;
    this.lost = lost;
    this.over = over;
  }

  /** Runs work as part of the term. A term that is over takes no more. */
  async during(work: () => Promise<void>): Promise<void> {
    if (this.over.aborted) return;
    const running = work();
    this.#work.add(running);
    await running.finally(() => this.#work.delete(running));
  }

  /** Resolves when the term is over and all of its work has ended. */
  async finished(): Promise<void> {
    await aborted(this.over);
    await Promise.all(this.#work);
  }
}
