/**
 * Runs one role while other roles go on unchanged: it is started and stopped at run time.
 *
 * An active role follows its kinds in every replica. Its controllers and services run while this process leads, once the caches of the role are
 * complete. `setActive` during a start or a stop takes effect when that has ended.
 */
import type { Clock, Logger, Metrics, Tracer } from "#base";
import type { InformerSet } from "../cache.ts";
import { openFence } from "../leader/fence.ts";
import { fencedClient } from "../leader/fenced-client.ts";
import { Runner, type RunnerLimits } from "../runner.ts";
import { aborted, linkSignals } from "../signals.ts";
import type { LeaderTerm } from "./leader-term.ts";
import { informerNeedsOf, type ManagerRole } from "./manager-role.ts";
import { ServiceRunner } from "./service-runner.ts";
import { Watched } from "./watched.ts";

export type RoleRunnerOptions = {
  readonly role: ManagerRole;
  readonly informers: InformerSet;
  /** The current term of this process. */
  readonly terms: Watched<LeaderTerm | undefined>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly limits: RunnerLimits;
};

type RolePhase = "inactive" | "waits for its kinds" | "standby" | "running" | "stopping";

export class RoleRunner {
  readonly services: readonly ServiceRunner[];
  readonly #options: RoleRunnerOptions;
  readonly #active: Watched<boolean>;
  #runners: readonly Runner[] = [];
  #phase: RolePhase = "inactive";

  constructor(options: RoleRunnerOptions) {
    const { role, limits } = options;
    this.#options = options;
    this.#active = new Watched(role.active ?? false);
    this.services = (role.services ?? []).map((service) => new ServiceRunner({ ...options, service, cancelMs: limits.cancelMs }));
  }

  get name(): string {
    return this.#options.role.name;
  }

  get phase(): RolePhase {
    return this.#phase;
  }

  setActive(active: boolean): void {
    if (active === this.#active.value) return;
    this.#options.logger.info(active ? "role is started" : "role is stopped", { role: this.name });
    this.#active.set(active);
  }

  alive(): boolean {
    return this.#runners.every((runner) => runner.alive()) && this.services.every((service) => service.alive());
  }

  /** Runs until the signal fires and everything has ended. */
  async run(stop: AbortSignal): Promise<void> {
    while ((await this.#active.until((active) => active || undefined, stop)) !== undefined) {
      const activity = linkSignals(stop);
      const look = () => {
        if (!this.#active.value) activity.abort();
      };
      const unsubscribe = this.#active.subscribe(look);
      look(); // it may have changed between the call that ended the wait and now
      await this.#follow(activity.signal);
      unsubscribe();
      activity.release();
      this.#phase = "inactive";
    }
  }

  async #follow(ending: AbortSignal): Promise<void> {
    const { informers, role } = this.#options;
    this.#phase = "waits for its kinds";
    const use = informers.use(informerNeedsOf(role));
    if (await use.synced(ending)) await this.#serveTerms(ending);
    this.#phase = "stopping";
    await use.end();
  }

  async #serveTerms(ending: AbortSignal): Promise<void> {
    const next = () => {
      this.#phase = "standby";
      return this.#options.terms.until((term) => (term?.over.aborted === false ? term : undefined), ending);
    };
    for (let term = await next(); term !== undefined; term = await next()) {
      const current = term;
      await current.during(() => this.#serve(current, ending));
    }
  }

  async #serve(term: LeaderTerm, ending: AbortSignal): Promise<void> {
    const { informers, role } = this.#options;
    const { record, lost } = term;
    const end = linkSignals(ending, term.over);
    const left = new AbortController();
    // work that is left behind would read caches that have ended, so it must not write
    const client = fencedClient(term.client, openFence(left.signal));
    this.#phase = "running";
    this.#runners = (role.controllers ?? []).map((controller) => new Runner({ ...this.#options, client, record, controller }));
    const context = { cache: informers, client, record };
    await Promise.all([
      aborted(end.signal), // a role may have nothing to run
      ...this.#runners.map((runner) => runner.run(end.signal, lost)),
      ...this.services.map((service) => service.run(context, end.signal)),
    ]);
    this.#runners = [];
    left.abort();
    end.release();
  }
}
