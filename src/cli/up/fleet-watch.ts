/**
 * The LatticeClusters of all clusters of a fleet, followed by watches: what the tree of the fleet is made from. A cluster whose API server restarts keeps its
 * last state; one that is stopped does not answer.
 */
import { MetricsRegistry, silentLogger } from "#base";
import { InformerSet } from "#controller-runtime";
import { latticeClusters } from "#crds";
import type { ClusterView, Fleet } from "#fleet";
import { describeState, type FleetClients } from "../install/fleet-clients.ts";
import type { CliIo } from "../io.ts";
import type { AskedCluster } from "../tree/cluster-tree.ts";

export type FleetWatchOptions = {
  readonly io: Pick<CliIo, "clock" | "random" | "signal">;
  readonly fleet: Pick<Fleet, "clusters" | "subscribe">;
  readonly clients: FleetClients;
  /** Called after every change. */
  readonly onChange: () => void;
};

type Followed = { readonly url: string | undefined; readonly stop: () => Promise<void>; readonly informers: InformerSet };

export class FleetWatch {
  readonly #options: FleetWatchOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #opening = new Set<string>();
  readonly #ended: Promise<void>[] = [];
  readonly #unsubscribe: () => void;
  #closed = false;

  constructor(options: FleetWatchOptions) {
    this.#options = options;
    this.#unsubscribe = options.fleet.subscribe(() => this.#changed());
    this.#changed();
  }

  observed(): readonly AskedCluster[] {
    return this.#options.fleet.clusters().map((cluster): AskedCluster => {
      const { name, parent, state } = cluster;
      const followed = this.#followed.get(name);
      if (state === "Stopped" || state === "Stopping") return { name, parent, answers: false, why: describeState(cluster) };
      const clusters = followed?.informers.list(latticeClusters) ?? [];
      return { name, parent, answers: true, clusters };
    });
  }

  /** Its API server runs and has shown its own LatticeCluster. Before that only its parent's view of it is known, which may be of an earlier run. */
  knowsOwn(name: string): boolean {
    const isRunning = this.#options.fleet.clusters().some((cluster) => cluster.name === name && cluster.state === "Running");
    const clusters = this.#followed.get(name)?.informers.list(latticeClusters) ?? [];
    return isRunning && clusters.some(({ metadata }) => metadata.name === name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    for (const { stop } of this.#followed.values()) this.#ended.push(stop());
    this.#followed.clear();
    await Promise.all(this.#ended);
  }

  #changed(): void {
    const clusters = this.#options.fleet.clusters();
    for (const [name, followed] of this.#followed) {
      const view = clusters.find((cluster) => cluster.name === name);
      if (view !== undefined && (view.state !== "Running" || view.url === followed.url)) continue;
      this.#followed.delete(name);
      this.#ended.push(followed.stop());
    }
    for (const cluster of clusters) if (cluster.state === "Running" && !this.#followed.has(cluster.name)) void this.#follow(cluster);
    if (!this.#closed) this.#options.onChange();
  }

  async #follow({ name, url }: ClusterView): Promise<void> {
    const { io, clients, onChange } = this.#options;
    if (this.#opening.has(name)) return;
    this.#opening.add(name);
    const client = await clients.find(name);
    this.#opening.delete(name);
    if (this.#closed || !client.ok || client.value === undefined) return;
    const stop = new AbortController();
    const informers = new InformerSet({ ...io, client: client.value, logger: silentLogger, metrics: new MetricsRegistry() }, [
      latticeClusters,
    ]);
    informers.subscribe(latticeClusters, onChange);
    const running = informers.run(AbortSignal.any([io.signal, stop.signal]));
    const end = async () => {
      stop.abort();
      await running;
    };
    this.#followed.set(name, { url, informers, stop: end });
  }
}
