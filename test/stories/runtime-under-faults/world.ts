/**
 * An embedded cluster with faults of every kind, another client that edits, and a small operator made of the real client, informers, queue
 * and workers. `runUnderFaults` runs it with faults, then without, and reports the errors at the end.
 *
 * Time is a FakeClock's and random numbers are seeded: the same seed gives the same run.
 */
import { expectOk, MetricsRegistry, ok, seededRandom, silentLogger, type FakeClock, type Result } from "#base";
import { Informer, WorkQueue } from "#controller-runtime";
import { keyText, parseKey, type KubeObject } from "#kube";
import { createKubeClient, type KubeClient, type KubeError, type Transport } from "#kube-client";
import type { EmbeddedCluster, WatchInterception } from "#embedded-cluster";
import { startCluster, withoutManagedFields } from "../../builders/api-world.ts";
import { Editor, SIZE, things, type Thing } from "./editor.ts";
import { differencesOf, Mirror } from "./checks.ts";
import { Faults } from "./faults.ts";

export type RunOptions = { readonly seed: number; readonly objects: number; readonly rounds: number; readonly workers: number };

/** Everything that must be empty or zero, and which faults happened. */
export type RunReport = {
  readonly wrong: readonly string[];
  readonly leaked: { readonly timers: number; readonly watches: number; readonly keys: number };
  readonly faults: Readonly<Record<string, number>>;
  readonly mostAtOnce: number;
};

/** Faults by round that are too rare to be drawn in every run. */
const PLANNED: Readonly<Record<number, "gone" | "stall" | "break">> = { 10: "gone", 20: "break", 40: "stall" };
const OPERATOR = { name: "operator", groups: ["system:masters"] };
const EVEN = "parity=even";
const SETTLE_MINUTES = 240;

export async function runUnderFaults(options: RunOptions): Promise<RunReport> {
  const cluster = await startCluster({ resources: [things], namespaces: ["shop"] });
  const world = new World(cluster, options);
  await world.start();
  await world.disturb(options.rounds);
  await world.settle();
  return world.end();
}

class World {
  readonly #random: () => number;
  readonly #clock: FakeClock;
  readonly #cluster: EmbeddedCluster<FakeClock>;
  readonly #faults: Faults;
  readonly #watches: WatchInterception;
  readonly #editor: Editor;
  readonly #client: KubeClient;
  readonly #all: Informer<Thing>;
  readonly #even: Informer<Thing>;
  readonly #mirror = new Mirror();
  readonly #queue: WorkQueue;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #inWork = new Set<string>();
  readonly #wrong: string[] = [];
  readonly #workers: number;
  #mostAtOnce = 0;
  #disturbed = true;

  constructor(cluster: EmbeddedCluster<FakeClock>, { seed, objects, workers }: RunOptions) {
    const random = (this.#random = seededRandom(seed));
    const clock = (this.#clock = cluster.clock);
    const metrics = new MetricsRegistry();
    this.#workers = workers;
    this.#cluster = cluster;
    this.#faults = new Faults(random);
    this.#watches = cluster.interceptWatches({ user: OPERATOR.name });
    this.#editor = new Editor(cluster.client, random, objects);
    const transport = this.#withEdits(this.#faults.transport(cluster.transportFor(OPERATOR)));
    this.#client = createKubeClient({ transport, clock, random });
    const common = { client: this.#client, resource: things, clock, random, logger: silentLogger, metrics };
    this.#all = new Informer<Thing>(common);
    this.#even = new Informer<Thing>({ ...common, labelSelector: EVEN });
    this.#queue = new WorkQueue({ name: "things", clock, random, metrics });
  }

  async start(): Promise<void> {
    await this.#editor.createAll();
    this.#faults.intercept(this.#cluster, OPERATOR.name);
    this.#all.subscribe((change) => {
      this.#mirror.take(change);
      this.#queue.add(keyText(change.key));
    });
    this.#running.push(this.#all.run(this.#stop.signal), this.#even.run(this.#stop.signal));
    for (let worker = 0; worker < this.#workers; worker += 1) this.#running.push(this.#work());
  }

  async disturb(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      for (let edits = 0; edits < 20; edits += 1) await this.#editor.edit();
      this.#interrupt(PLANNED[round]);
      if (this.#random() < 0.05) this.#cluster.forgetHistory();
      await this.#clock.advance(10_000);
    }
  }

  #interrupt(fault: "gone" | "stall" | "break" | undefined): void {
    if (fault === "gone") this.#watches.expire();
    if (fault === "stall") this.#watches.stall();
    if (fault === "break") this.#faults.breakStreams();
  }

  /** The faults stop; a difference that is left after hours without faults is permanent. */
  async settle(): Promise<void> {
    this.#disturbed = false;
    this.#faults.stop();
    for (let minute = 0; minute < SETTLE_MINUTES && (await this.#differences()).length > 0; minute += 1) await this.#clock.advance(60_000);
    this.#wrong.push(...(await this.#differences()), ...this.#mirror.wrong);
  }

  async end(): Promise<RunReport> {
    this.#stop.abort();
    this.#queue.close();
    await Promise.all(this.#running);
    await this.#client.close();
    await this.#clock.advance(0);
    const leaked = { timers: this.#clock.pending, watches: this.#watches.open, keys: this.#inWork.size };
    await this.#cluster.close();
    return { wrong: this.#wrong, leaked, faults: Object.fromEntries(this.#faults.seen), mostAtOnce: this.#mostAtOnce };
  }

  async #differences(): Promise<readonly string[]> {
    const server = expectOk(await this.#cluster.client.list(things)).items.map(withoutManagedFields);
    return [
      ...differencesOf("informer", server, this.#all.list()),
      ...differencesOf("selecting informer", server.filter(isEven), this.#even.list()),
      ...differencesOf("subscriber", server, this.#mirror.objects()),
      ...this.#editor.problems(server),
    ];
  }

  /** Edits happen between any two requests of the operator, not only while it sleeps. */
  #withEdits(transport: Transport): Transport {
    return {
      send: async (request, signal) => {
        if (this.#disturbed && this.#random() < 0.05) await this.#editor.edit();
        return transport.send(request, signal);
      },
      close: () => transport.close(),
    };
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(this.#stop.signal); key !== undefined; key = await this.#queue.take(this.#stop.signal)) {
      if (this.#inWork.has(key)) this.#wrong.push(`${key} was processed twice at the same time`);
      this.#inWork.add(key);
      this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#inWork.size);
      const result = await this.#reconcile(key);
      if (result.ok) this.#queue.forget(key);
      else this.#queue.retry(key);
      this.#inWork.delete(key);
      this.#queue.done(key);
    }
  }

  /** Copies the size to an annotation and the status. It updates whole objects: only the resourceVersion protects the writes of others. */
  async #reconcile(key: string): Promise<Result<unknown, KubeError>> {
    const cached = this.#all.get(parseKey(key));
    if (cached === undefined) return ok(undefined);
    const marked = await this.#mark(cached);
    if (!marked.ok || marked.value.status?.observed === marked.value.spec.size) return marked;
    const reported = { ...marked.value, status: { observed: marked.value.spec.size } };
    return this.#client.update(things, reported, { subresource: "status", signal: this.#stop.signal });
  }

  async #mark(thing: Thing): Promise<Result<Thing, KubeError>> {
    const size = String(thing.spec.size);
    if (thing.metadata.annotations?.[SIZE] === size) return ok(thing);
    const annotations = { ...thing.metadata.annotations, [SIZE]: size };
    return this.#client.update(things, { ...thing, metadata: { ...thing.metadata, annotations } }, { signal: this.#stop.signal });
  }
}

function isEven({ metadata }: KubeObject): boolean {
  return metadata.labels?.["parity"] === "even";
}
