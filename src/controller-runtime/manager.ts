/**
 * Runs controllers: shared informers, optional leader election, one runner per controller while it leads.
 *
 * Informers run in standbys too. A standby is ready, its caches are complete, and it takes over without a list.
 */
import { type Clock, type Logger, type Metrics, type Tracer } from "#base";
import type { KubeClient } from "#kube-client";
import { InformerSet } from "./cache.ts";
import { EventRecorder } from "./events/recorder.ts";
import { LeaderElector } from "./leader/elector.ts";
import { openFence, type Fence } from "./leader/fence.ts";
import { fencedClient } from "./leader/fenced-client.ts";
import type { LeaseTimes } from "./leader/lease.ts";
import type { BoundController } from "./pass.ts";
import { DEFAULT_LIMITS, Runner, type RunnerLimits } from "./runner.ts";
import type { ManagerScope } from "./scope.ts";
import { within } from "./within.ts";

export type ManagerOptions = {
  readonly client: KubeClient;
  readonly controllers: readonly BoundController[];
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
};

const FLUSH_EVENTS_MS = 2_000;

export function createManager(options: ManagerOptions): ControllerManager {
  const names = options.controllers.map((controller) => controller.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two controllers are called ${twice}`);
  const running = new RunningManager(options);
  return { run: (signal) => running.run(signal), health: () => running.health(), cache: running.informers };
}

/** In the order of the controllers. A kind that one of them requires is not optional. */
function resourcesOf(controllers: readonly BoundController[]) {
  const named = controllers.flatMap(({ reconciles, owns = [], watches, reads = [], optional = [] }) =>
    [reconciles, ...owns, ...watches.map((watch) => watch.resource), ...reads].map((resource) => ({
      resource,
      optional: optional.includes(resource),
    })),
  );
  const those = (wanted: boolean) => named.flatMap(({ resource, optional }) => (optional === wanted ? [resource] : []));
  return { required: those(false), optional: those(true) };
}

class RunningManager {
  readonly informers: InformerSet;
  readonly #options: ManagerOptions;
  readonly #limits: RunnerLimits;
  readonly #elector: LeaderElector | undefined;
  #runners: readonly Runner[] = [];
  #state: "idle" | "running" | "ended" = "idle";
  #leading = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { required, optional } = resourcesOf(options.controllers);
    this.informers = new InformerSet(options, required, optional);
    for (const { indexes = [] } of options.controllers) {
      for (const found of indexes) this.informers.addIndex(found.resource, found.name, (object) => found.keysOf(object));
    }
    const { leaderElection } = options;
    const { namespace = "", name = "", times } = leaderElection ?? {};
    this.#elector = leaderElection === undefined ? undefined : new LeaderElector({ ...options, lease: { namespace, name }, times });
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== "idle") throw new Error("a manager runs once");
    this.#state = "running";
    // they run after the signal: passes that are still under way read the cache
    const informing = new AbortController();
    const informers = this.informers.run(informing.signal);
    try {
      if (await this.informers.synced(signal)) await this.#compete(signal);
    } finally {
      informing.abort();
      await informers;
      this.#state = "ended";
    }
  }

  health(): ManagerHealth {
    const informers = [...this.informers.health()];
    const details = Object.fromEntries([
      ...informers.map(([name, { phase, failures, forbidden }]) => {
        const trouble = forbidden ? `forbidden, ${phase}` : phase;
        return [`informer ${name}`, failures === 0 ? trouble : `${trouble}, ${failures} failures`];
      }),
      ["leader", this.#leading ? "this process" : "another, or none yet"],
    ]) as Record<string, string>;
    const informersRun = this.#state !== "running" || informers.every(([, { phase }]) => phase !== "stopped");
    return {
      live: this.#state !== "ended" && informersRun && this.#runners.every((runner) => runner.alive()),
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
    const { controllers, clock, logger, metrics, identity } = this.#options;
    const client = fencedClient(this.#options.client, fence);
    const reporter = { controller: "lattice.dev/operator", instance: identity };
    const recorder = new EventRecorder({ client, clock, logger, metrics, reporter, signal: fence.signal });
    const shared = { ...this.#options, client, informers: this.informers, limits: this.#limits };
    this.#runners = controllers.map((controller) => new Runner({ ...shared, controller, record: (note) => recorder.record(note) }));
    this.#leading = true;
    await Promise.all(this.#runners.map((runner) => runner.run(stop, fence.signal)));
    await within(clock, FLUSH_EVENTS_MS, recorder.flush(), fence.signal);
    this.#leading = false;
    this.#runners = [];
  }
}
