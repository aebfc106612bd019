/**
 * Competes for a Lease and leads while it holds it. After losing it the elector competes again.
 *
 * On a graceful end the lease is released only if every write of the term had a response. A write without a response may still
 * be executed, so the lease must expire as after a crash.
 */
import { ok, sleep, type Clock, type Gauge, type Logger, type Metrics } from "#base";
import { leases, type Lease, type ObjectKey } from "#kube";
import type { ClientResult, KubeError, KubeReader, KubeWriter } from "#kube-client";
import { LeaseFence, readClocks, type Fence } from "./fence.ts";
import {
  callLimitMs,
  DEFAULT_LEASE_TIMES,
  freedSpec,
  heldSpec,
  holderOf,
  mayTakeAt,
  patienceMs,
  renewalPauseMs,
  retryPauseMs,
  sight,
  type LeaseTimes,
  type Sighting,
} from "./lease.ts";

export type LeaderElectorOptions = {
  /** Not fenced: the fence depends on it. */
  readonly client: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Unique per process: two processes with one identity would both lead. */
  readonly identity: string;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly times?: LeaseTimes | undefined;
};

type Held = { lease: Lease; readonly fence: LeaseFence };

export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #times: LeaseTimes;
  readonly #logger: Logger;
  readonly #leader: Gauge;
  #sighting: Sighting | undefined;
  #takeAt = 0;
  #renewals = 0;
  #leading = false;
  /** The last response was a rejection by RBAC. */
  #forbidden = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#times = options.times ?? DEFAULT_LEASE_TIMES;
    const patience = patienceMs(this.#times.leaseDurationMs, this.#times);
    if (this.#times.renewDeadlineMs >= patience) throw new Error("a leader must stop writing before others lose patience");
    this.#logger = options.logger.with({ lease: `${options.lease.namespace}/${options.lease.name}`, identity: options.identity });
    this.#leader = options.metrics.gauge("lattice_leader", "1 while this process leads");
    this.#leader.set(0);
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** Calls `lead` for each term. It must end when the signal fires (gracefully) or when the fence fails (at once). */
  async run(lead: (fence: Fence) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const held = await this.#tryToTake(signal);
      if (held !== undefined) await this.#serve(held, lead);
      else await sleep(this.#options.clock, this.#untilNextLook(), signal);
    }
  }

  async #serve(held: Held, lead: (fence: Fence) => Promise<void>): Promise<void> {
    const over = new AbortController();
    this.#lead(true);
    const renewing = this.#renewUntil(held, over.signal);
    try {
      await lead(held.fence);
    } finally {
      over.abort();
      await renewing;
      await this.#giveBack(held);
      this.#lead(false);
    }
  }

  #lead(leading: boolean): void {
    this.#leading = leading;
    this.#leader.set(leading ? 1 : 0);
    this.#logger.info(leading ? "leading" : "no longer leading");
  }

  async #tryToTake(signal: AbortSignal): Promise<Held | undefined> {
    const { client, clock, identity } = this.#options;
    const found = await this.#read(signal);
    if (!found.ok) {
      this.#reportFailure("lease could not be read", found.error);
      return undefined;
    }
    const now = clock.monotonic();
    this.#sighting = sight(this.#sighting, found.value, now);
    this.#takeAt = mayTakeAt(found.value, this.#sighting, identity, this.#times);
    if (now < this.#takeAt) return undefined;
    const sentAt = readClocks(clock);
    const wanted = this.#claim(found.value);
    // not cancelled when the process stops: a claim that the server executes all the same would hold the lease until it expires
    const limits = { timeoutMs: callLimitMs(this.#times) };
    const answer = await (found.value === undefined ? client.create(leases, wanted, limits) : client.update(leases, wanted, limits));
    if (!answer.ok) {
      if (answer.error.kind === "forbidden") this.#reportFailure("lease may not be written", answer.error);
      else this.#logger.info("lease was not taken", { error: answer.error.message });
      return undefined;
    }
    this.#forbidden = false;
    return { lease: answer.value, fence: new LeaseFence(clock, this.#times.renewDeadlineMs, sentAt) };
  }

  /** A missing permission stays missing until an administrator grants it: reported once. */
  #reportFailure(message: string, { kind, message: error }: KubeError): void {
    const repeated = kind === "forbidden" && this.#forbidden;
    this.#forbidden = kind === "forbidden";
    this.#logger[repeated ? "debug" : "warn"](message, { error });
  }

  async #read(signal?: AbortSignal): ClientResult<Lease | undefined> {
    const answer = await this.#options.client.get(leases, this.#key(), { timeoutMs: callLimitMs(this.#times), signal });
    return !answer.ok && answer.error.kind === "not-found" ? ok(undefined) : answer;
  }

  async #renewUntil(held: Held, over: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const fenceFell = held.fence.signal;
    let pause = renewalPauseMs(this.#times);
    while (!fenceFell.aborted && (await sleep(clock, pause, over))) {
      const before = held.fence.remainingMs();
      if (before === 0) break;
      await this.#renew(held);
      const left = held.fence.remainingMs();
      pause = left > before ? renewalPauseMs(this.#times) : retryPauseMs(this.#times, left);
    }
    if (fenceFell.aborted) this.#logger.warn("lease lost");
  }

  /** One renewal. A failure is not yet a loss: the fence has the deadline. */
  async #renew(held: Held): Promise<void> {
    const { client, clock, identity } = this.#options;
    const sentAt = readClocks(clock);
    const timeoutMs = Math.min(callLimitMs(this.#times), held.fence.remainingMs());
    const answer = await client.update(leases, this.#claim(held.lease), { timeoutMs });
    if (answer.ok) {
      held.lease = answer.value;
      return held.fence.extend(sentAt);
    }
    this.#logger.warn("lease was not renewed", { error: answer.error.message });
    if (answer.error.kind === "not-found") return held.fence.fall();
    if (answer.error.kind !== "conflict") return;
    // either another candidate acquired it, or a renewal whose response was lost had succeeded
    const newest = await this.#read();
    if (!newest.ok) return;
    if (newest.value === undefined || holderOf(newest.value) !== identity) return held.fence.fall();
    held.lease = newest.value;
  }

  async #giveBack(held: Held): Promise<void> {
    const { client, clock } = this.#options;
    const ours = held.fence.remainingMs() > 0;
    held.fence.fall();
    // a released lease counts as new: the next holder, or this process, must not measure from an old observation
    this.#sighting = undefined;
    if (!ours) return;
    if (!held.fence.quiet) return this.#logger.warn("lease is left to run out: a write has no answer yet");
    const freed = { ...held.lease, spec: freedSpec(held.lease, clock.now()) };
    const answer = await client.update(leases, freed, { timeoutMs: this.#times.retryMs });
    if (!answer.ok) this.#logger.warn("lease could not be given back", { error: answer.error.message });
  }

  /** Earlier than usual when the lease expires before. Never later: a renewal that is observed late delays twice. */
  #untilNextLook(): number {
    const usual = this.#times.retryMs * (0.9 + 0.1 * this.#options.random());
    const left = Math.ceil(this.#takeAt - this.#options.clock.monotonic());
    return left > 0 ? Math.min(usual, left) : usual;
  }

  #claim(previous: Lease | undefined): Lease {
    const { identity, clock } = this.#options;
    const claim = { me: identity, now: clock.now(), count: (this.#renewals += 1), leaseDurationMs: this.#times.leaseDurationMs };
    return { ...(previous ?? this.#empty()), spec: heldSpec(previous, claim) };
  }

  #empty(): Lease {
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...this.#options.lease } };
  }

  #key(): ObjectKey {
    return this.#options.lease;
  }
}
