/**
 * Starts the controllers against one API server: they only use a KubeClient.
 *
 * It resolves as soon as everything is connected. The informers retry while the server is not up or is down.
 */
import { err, MetricsRegistry, ok, type Clock, type Logger, type Metrics, type Result } from "#base";
import { EventRecorder, type Informer, type InformerHealth } from "#controller-runtime";
import type { KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { KubeController, KubeControllerContext } from "./context.ts";
import { DEFAULT_POD_LIMIT, kubeControllers, type KubeControllersSettings } from "./controllers.ts";
import { EveryKind } from "./every-kind.ts";
import { SharedInformers } from "./shared-informers.ts";
import { Workers } from "./work.ts";

export type KubeControllersOptions = KubeControllersSettings & {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Absent: all of them, as kube-controller-manager runs them. */
  readonly controllers?: readonly KubeController[] | undefined;
  /** Controllers that simulate a scheduler and kubelets. Absent: Pods stay Pending. */
  readonly simulation?: readonly KubeController[] | undefined;
  /** The identity of this process, for events. */
  readonly identity?: string | undefined;
};

export type KubeControllersHealth = {
  /** Every informer has its list and is not failing repeatedly. */
  readonly ready: boolean;
  readonly informers: ReadonlyMap<string, InformerHealth>;
};

export type RunningKubeControllers = {
  /**
   * Resolves when nothing is due or in work and every informer has the server's newest version. Keys with a later due time (a retry, a TTL) do
   * not count: advance the clock. For tests: it lists every kind.
   */
  readonly idle: () => Promise<void>;
  readonly health: () => KubeControllersHealth;
  /** Ends passes under way, informers and timers; resolves when they have ended. */
  readonly close: () => Promise<void>;
};

export function startKubeControllers(options: KubeControllersOptions): Promise<Result<RunningKubeControllers, string>> {
  const controllers = [...(options.controllers ?? kubeControllers(options)), ...(options.simulation ?? [])];
  const names = controllers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return Promise.resolve(err(`two controllers are called ${twice}`));
  const running = new Running(options, controllers);
  return Promise.resolve(ok({ idle: () => running.idle(), health: () => running.health(), close: () => running.close() }));
}

type CommonOptions = Omit<KubeControllersOptions, "metrics"> & { readonly metrics: Metrics; readonly signal: AbortSignal };

/** A controller: its queues, which begin when its informers have their first lists. A kind that is not installed blocks no other. */
type ControllerGroup = { readonly workers: readonly Workers[]; readonly informers: ReadonlySet<Informer<KubeObject>> };

class Running {
  readonly #stopping = new AbortController();
  readonly #informers: SharedInformers;
  #everyKind: EveryKind | undefined;
  readonly #groups: ControllerGroup[] = [];
  readonly #recorders: EventRecorder[] = [];
  readonly #ended: Promise<unknown>;
  /** Counts events, so that `idle` can detect activity during its checks. */
  #activity = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: KubeControllersOptions, controllers: readonly KubeController[]) {
    const { signal } = this.#stopping;
    const metrics = options.metrics ?? new MetricsRegistry();
    const onChange = () => this.#happened();
    const common = { ...options, metrics, signal };
    this.#informers = new SharedInformers({ ...common, onChange });
    signal.addEventListener("abort", onChange, { once: true });
    for (const controller of controllers) this.#start(controller, common);
    this.#informers.run();
    this.#ended = this.#run();
  }

  async idle(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const before = this.#activity;
      const quiet = (await this.#informers.synced()) && !this.#busy() && (await this.#informers.current());
      if (this.#activity !== before) continue;
      if (quiet) return;
      await this.#nextActivity();
    }
  }

  health(): KubeControllersHealth {
    const informers = this.#informers.health();
    return { ready: [...informers.values()].every(({ healthy }) => healthy), informers };
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
    await this.#informers.ended();
    await Promise.all(this.#recorders.map((recorder) => recorder.flush()));
  }

  #start(controller: KubeController, common: CommonOptions): void {
    const workers: Workers[] = [];
    const { informers } = this.#informers.requestedBy(() => controller.start(this.#contextOf(controller, common, workers)));
    this.#groups.push({ workers, informers });
  }

  #contextOf({ name, reportsAs = name }: KubeController, common: CommonOptions, workers: Workers[]): KubeControllerContext {
    const { client, clock, random, metrics, signal, identity = "kube-controllers", podLimit = DEFAULT_POD_LIMIT } = common;
    const logger = common.logger.with({ controller: name });
    const recorder = new EventRecorder({ client, clock, logger, metrics, signal, reporter: { controller: reportsAs, instance: identity } });
    this.#recorders.push(recorder);
    const context: KubeControllerContext = {
      client,
      informers: this.#informers,
      everyKind: () => this.#everyKind ?? this.#startEveryKind(common),
      clock,
      random,
      podLimit,
      logger,
      metrics,
      signal,
      record: (note) => recorder.record(note),
      work: this.#workIn(workers, { ...common, logger }),
    };
    return context;
  }

  #workIn(workers: Workers[], { clock, random, metrics, logger, signal }: CommonOptions): KubeControllerContext["work"] {
    return (work) => {
      const opened = new Workers(work, { clock, random, metrics, logger, signal, onPass: () => this.#happened() });
      workers.push(opened);
      return opened.queue;
    };
  }

  /** Its own group: it must not wait for the informers of the controller that uses it first. */
  #startEveryKind(common: CommonOptions): EveryKind {
    const workers: Workers[] = [];
    const { value: everyKind, informers } = this.#informers.requestedBy(
      () => new EveryKind({ ...common, informers: this.#informers, work: this.#workIn(workers, common) }),
    );
    this.#groups.push({ workers, informers });
    return (this.#everyKind = everyKind);
  }

  async #run(): Promise<void> {
    const start = async ({ workers, informers }: ControllerGroup) => {
      if (await this.#informers.synced(informers)) await Promise.all(workers.map((one) => one.run()));
    };
    await Promise.all(this.#groups.map(start));
  }

  #busy(): boolean {
    return this.#groups.some(({ workers }) => workers.some((one) => one.busy));
  }

  #happened(): void {
    this.#activity += 1;
    for (const wake of this.#waiting) wake();
  }

  #nextActivity(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}
