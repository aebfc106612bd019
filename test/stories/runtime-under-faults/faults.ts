/**
 * The faults of a run: requests, events and bytes fail at fixed rates, drawn from a seeded random. The same seed and the
 * same order of requests give the same faults.
 */
import { delay, failWith, loseAnswer, type Action, type EmbeddedCluster, type Interceptor } from "#embedded-cluster";
import type { Transport } from "#kube-client";
import { faultyEvents, type EventFault } from "../../builders/event-faults.ts";
import { FaultyStreams, type StreamFault } from "../../builders/faulty-streams.ts";

const EVENT_RATES: Readonly<Record<EventFault, number>> = {
  end: 0.001,
  gone: 0.0005,
  stall: 0.0001,
  duplicate: 0.02,
  reorder: 0.02,
  rewind: 0.02,
};
const STREAM_RATES: Readonly<Record<StreamFault, number>> = { break: 0.001, split: 0.02 };
const DELAY_MS = 200;

export class Faults {
  readonly #random: () => number;
  readonly #seen = new Map<string, number>();
  readonly #streams: FaultyStreams;
  #active = true;
  /** An event that is delivered after a later one must not be lost as well: a client that resumes could never learn of it. */
  #lateEvents = 0;

  constructor(random: () => number) {
    this.#random = random;
    this.#streams = new FaultyStreams(() => (this.#lateEvents > 0 ? undefined : this.#drawFrom(STREAM_RATES)));
  }

  /** How often each fault happened. */
  get seen(): ReadonlyMap<string, number> {
    return this.#seen;
  }

  /** Ends all faults. */
  stop(): void {
    this.#active = false;
  }

  breakStreams(): void {
    this.#streams.break();
  }

  transport(inner: Transport): Transport {
    return this.#streams.transport(inner);
  }

  intercept(cluster: EmbeddedCluster, user: string): void {
    cluster.intercept(
      { user, verb: "watch" },
      faultyEvents({ draw: () => this.#drawFrom(EVENT_RATES), onLateEvent: (isLate) => void (this.#lateEvents += isLate ? 1 : -1) }),
    );
    cluster.intercept({ user }, (action, next, context) => {
      const fault = this.#active ? this.#drawRequest(action) : undefined;
      if (fault === undefined) return next();
      this.#count(fault.name);
      return fault.interceptor(action, next, context);
    });
    cluster.intercept({ user, times: 1, when: ({ query }) => query.has("continue") }, (...request) => {
      this.#count("answer 410");
      return failWith("gone")(...request);
    });
  }

  #drawRequest({ method, verb, query }: Action): { readonly name: string; readonly interceptor: Interceptor } | undefined {
    const isUpdate = method === "PUT" || method === "PATCH";
    if (this.#draws(0.02)) return { name: "unreachable", interceptor: failWith("network") };
    if (this.#draws(0.02)) return { name: "answer 429", interceptor: failWith("too-many-requests", { retryAfterSeconds: 1 }) };
    if (this.#draws(0.01)) return { name: "answer 500", interceptor: failWith("server-error") };
    if (this.#draws(0.01)) return { name: "answer 503", interceptor: failWith("unavailable") };
    if (isUpdate && this.#draws(0.03)) return { name: "answer 409", interceptor: failWith("conflict") };
    if (method !== "GET" && this.#draws(0.03)) return { name: "lost-answer", interceptor: loseAnswer() };
    if (query.has("continue") && this.#draws(0.1)) return { name: "answer 410", interceptor: failWith("gone") };
    if (verb !== "watch" && this.#draws(0.02)) return { name: "delay", interceptor: delay(Math.ceil(this.#random() * DELAY_MS)) };
    return undefined;
  }

  #drawFrom<F extends string>(rates: Readonly<Record<F, number>>): F | undefined {
    if (!this.#active) return undefined;
    for (const fault of Object.keys(rates) as F[]) {
      if (!this.#draws(rates[fault])) continue;
      this.#count(fault);
      return fault;
    }
    return undefined;
  }

  #draws(rate: number): boolean {
    return this.#random() < rate;
  }

  #count(fault: string): void {
    this.#seen.set(fault, (this.#seen.get(fault) ?? 0) + 1);
  }
}
