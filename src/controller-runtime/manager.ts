/**
 * Runs roles, which are groups of controllers and services: shared informers, optional leader election, and their work while it leads.
 *
 * Informers run in standbys too. A standby is ready, its caches are complete, and it takes over without a list.
 */
import { type Clock, type Logger, type Metrics, type Tracer } from "#base";
import type { KubeClient } from "#kube-client";
import { InformerSet, type InformerUse } from "./cache.ts";
import { EventRecorder } from "./events/recorder.ts";
import { LeaderElector } from "./leader/elector.ts";
import { openFence, type Fence } from "./leader/fence.ts";
import { fencedClient } from "./leader/fenced-client.ts";
import type { LeaseTimes } from "./leader/lease.ts";
import type { BoundController } from "./pass.ts";
import { LeaderTerm } from "./roles/leader-term.ts";
import type { BoundLeaderService } from "./roles/leader-service.ts";
import { checkUniqueNames, informerNeedsOf, type ManagerRole } from "./roles/manager-role.ts";
import { RoleRunner } from "./roles/role-runner.ts";
import { Watched } from "./roles/watched.ts";
import { DEFAULT_LIMITS, type RunnerLimits } from "./runner.ts";
import type { ManagerScope } from "./scope.ts";
import { linkSignals } from "./signals.ts";
import { within } from "./within.ts";

export type ManagerOptions = {
  readonly client: KubeClient;
  /** Those that are always active; competing for the lease waits for their kinds. */
  readonly controllers: readonly BoundController[];
  readonly services?: readonly BoundLeaderService[];
  /** Groups that are started and stopped with `setActive`. */
  readonly roles?: readonly ManagerRole[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** Unique to this process: pod name and a random part. */
  readonly identity: string;
  /** Absent: no leader election, this process always leads. */
  readonly leaderElection?: { readonly namespace: string; readonly name: string; readonly times?: LeaseTimes } | undefined;
  readonly limits?: Partial<RunnerLimits> | undefined;
  /** Absent: the whole cluster. */
  readonly scope?: ManagerScope | undefined;
};

export type ManagerHealth = {
  /** No loop has ended or is stuck. */
  readonly live: boolean;
  /** Every informer has its list and is not failing. */
  readonly ready: boolean;
  readonly leading: boolean;
  /** "informer deployments.apps/v1" → "watching", for troubleshooting. */
  readonly details: Readonly<Record<string, string>>;
};

export type ControllerManager = {
  /** Runs until the signal fires and everything has ended. Once per manager. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly health: () => ManagerHealth;
  readonly cache: InformerSet;
  /**
   * Starts or stops a role. Returns at once; health shows the progress. It may be called at any time and repeatedly: the last call counts. An
   * unknown role is a bug.
   */
  readonly setActive: (role: string, active: boolean) => void;
};

const FLUSH_EVENTS_MS = 2_000;
/** The role of what is always active; users cannot name it. */
const ALWAYS = "";

export function createManager(options: ManagerOptions): ControllerManager {
  const { controllers, services = [], roles = [] } = options;
  const all: readonly ManagerRole[] = [{ name: ALWAYS, controllers, services, active: true }, ...roles];
  checkUniqueNames(all);
  const running = new RunningManager(options, all);
  return {
    run: (signal) => running.run(signal),
    health: () => running.health(),
    cache: running.informers,
    setActive: (role, active) => running.setActive(role, active),
  };
}

class RunningManager {
  readonly informers: InformerSet;
  readonly #options: ManagerOptions;
  readonly #elector: LeaderElector | undefined;
  readonly #roles: ReadonlyMap<string, RoleRunner>;
  readonly #terms = new Watched<LeaderTerm | undefined>(undefined);
  readonly #always: InformerUse;
  #state: "idle" | "running" | "ended" = "idle";
  #leading = false;

  constructor(options: ManagerOptions, roles: readonly ManagerRole[]) {
    this.#options = options;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.informers = new InformerSet(options);
    for (const role of roles) this.informers.declare(informerNeedsOf(role));
    // from now on, so that others can subscribe before the informers run
    this.#always = this.informers.use(informerNeedsOf({ ...options, name: ALWAYS }));
    const shared = { ...options, informers: this.informers, terms: this.#terms, limits };
    this.#roles = new Map(roles.map((role) => [role.name, new RoleRunner({ ...shared, role })]));
    const { leaderElection } = options;
    const { namespace = "", name = "", times } = leaderElection ?? {};
    this.#elector = leaderElection === undefined ? undefined : new LeaderElector({ ...options, lease: { namespace, name }, times });
  }

  setActive(name: string, active: boolean): void {
    const role = name === ALWAYS ? undefined : this.#roles.get(name);
    if (role === undefined) throw new Error(`this manager has no role "${name}"`);
    role.setActive(active);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== "idle") throw new Error("a manager runs once");
    this.#state = "running";
    const ending = linkSignals(signal);
    // they run after the signal: passes that are still under way read the cache
    const informing = new AbortController();
    const informers = this.informers.run(informing.signal);
    const roles = Promise.all([...this.#roles.values()].map((role) => role.run(ending.signal)));
    roles.catch(() => ending.abort()); // a bug ends the manager instead of leaving a role without its loop
    try {
      if (await this.#always.synced(ending.signal)) await this.#compete(ending.signal);
      await roles;
    } finally {
      ending.abort();
      ending.release();
      informing.abort();
      await informers;
      this.#state = "ended";
    }
  }

  health(): ManagerHealth {
    const informers = [...this.informers.health()];
    const roles = [...this.#roles.values()];
    const details = Object.fromEntries([
      ...informers.map(([name, { phase, failures, forbidden }]) => {
        const trouble = forbidden ? `forbidden, ${phase}` : phase;
        return [`informer ${name}`, failures === 0 ? trouble : `${trouble}, ${failures} failures`];
      }),
      ...roles.filter(({ name }) => name !== ALWAYS).map(({ name, phase }) => [`role ${name}`, phase]),
      ...roles.flatMap(({ services }) => services.map((service) => [`service ${service.name}`, service.describe()])),
      ["leader", this.#leading ? "this process" : "another, or none yet"],
    ]) as Record<string, string>;
    const informersRun = this.#state !== "running" || informers.every(([, { phase }]) => phase !== "stopped");
    return {
      live: this.#state !== "ended" && informersRun && roles.every((role) => role.alive()),
      ready: this.#state === "running" && informers.every(([, { healthy }]) => healthy),
      leading: this.#leading,
      details,
    };
  }

  #compete(signal: AbortSignal): Promise<void> {
    const lead = (fence: Fence) => this.#lead(fence, signal);
    return this.#elector === undefined ? lead(openFence(new AbortController().signal)) : this.#elector.run(lead, signal);
  }

  async #lead(fence: Fence, stop: AbortSignal): Promise<void> {
    const { clock, logger, metrics, identity } = this.#options;
    const client = fencedClient(this.#options.client, fence);
    const reporter = { controller: "lattice.dev/operator", instance: identity };
    const recorder = new EventRecorder({ client, clock, logger, metrics, reporter, signal: fence.signal });
    const over = linkSignals(stop, fence.signal);
    const term = new LeaderTerm({ client, record: (note) => recorder.record(note), lost: fence.signal, over: over.signal });
    this.#leading = true;
    this.#terms.set(term);
    await term.finished();
    this.#terms.set(undefined);
    over.release();
    await within(clock, FLUSH_EVENTS_MS, recorder.flush(), fence.signal);
    this.#leading = false;
  }
}
