/**
 * A world in bad weather: a scripted API with faults of every kind, somebody else who edits, and a small operator made of the
 * real client, informers, queue and workers. `weather` lets it storm, then lets it settle, and reports what is wrong.
 *
 * Time is a FakeClock's and chance is seeded: a seed is a run.
 */
import { FakeClock, MetricsRegistry, ok, seededRandom, silentLogger, type Result } from "#base";
import { Informer, WorkQueue } from "#controller-runtime";
import { keyText, parseKey, type KubeObject } from "#kube";
import { createKubeClient, type KubeClient, type KubeError, type Transport } from "#kube-client";
import { ScriptedApi, type FaultRates } from "../../builders/scripted-api/index.ts";
import { Editor, SIZE, things, type Thing } from "./editor.ts";
import { differencesOf, Mirror } from "./checks.ts";

export type WeatherOptions = { readonly seed: number; readonly objects: number; readonly rounds: number; readonly workers: number };

/** Everything that must be empty or zero, and the proof that the storm took place. */
export type WeatherReport = {
  readonly wrong: readonly string[];
  readonly leaked: { readonly timers: number; readonly watches: number; readonly keys: number };
  readonly faults: Readonly<Record<string, number>>;
  readonly mostAtOnce: number;
};

const STORM: FaultRates = {
  requests: {
    unreachable: 0.02,
    tooManyRequests: 0.02,
    serverError: 0.02,
    conflict: 0.03,
    lostAnswer: 0.03,
    goneOnContinue: 0.1,
    delay: 0.02,
    delayMs: 200,
  },
  events: { end: 0.001, break: 0.001, gone: 0.0005, stall: 0.0001, duplicate: 0.02, reorder: 0.02, rewind: 0.02, split: 0.02 },
};
/** By round: what chance might spare a run, and no run should be spared. */
const SURELY: Readonly<Record<number, "gone" | "stall" | "break">> = { 10: "gone", 20: "break", 60: "stall" };
const EVEN = "parity=even";
const SETTLE_MINUTES = 240;

export async function weather(options: WeatherOptions): Promise<WeatherReport> {
  const world = new World(options);
  world.start();
  await world.storm(options.rounds);
  await world.settle();
  return world.end();
}

class World {
  readonly #random: () => number;
  readonly #clock = new FakeClock();
  readonly #api: ScriptedApi;
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
  #stormy = true;

  constructor({ seed, objects, workers }: WeatherOptions) {
    const random = (this.#random = seededRandom(seed));
    const clock = this.#clock;
    const metrics = new MetricsRegistry();
    this.#workers = workers;
    this.#api = new ScriptedApi({ clock, random });
    this.#editor = new Editor(this.#api, random, objects);
    this.#client = createKubeClient({ transport: this.#disturbed(this.#api.transportFor("operator")), clock, random });
    const common = { client: this.#client, resource: things, clock, random, logger: silentLogger, metrics };
    this.#all = new Informer<Thing>(common);
    this.#even = new Informer<Thing>({ ...common, labelSelector: EVEN });
    this.#queue = new WorkQueue({ name: "things", clock, random, metrics });
  }

  start(): void {
    this.#editor.createAll();
    this.#api.faults.storm(STORM);
    this.#api.faults.script({ kind: "answer", code: 410 }, ({ query }) => query.has("continue"));
    this.#all.subscribe((change) => {
      this.#mirror.take(change);
      this.#queue.add(keyText(change.key));
    });
    this.#running.push(this.#all.run(this.#stop.signal), this.#even.run(this.#stop.signal));
    for (let worker = 0; worker < this.#workers; worker += 1) this.#running.push(this.#work());
  }

  async storm(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      for (let edits = 0; edits < 20; edits += 1) this.#editor.edit();
      const surely = SURELY[round];
      if (surely !== undefined) this.#api.interruptWatches(surely);
      if (this.#random() < 0.05) this.#api.compact();
      if (this.#random() < 0.2) this.#api.bookmark(things);
      await this.#clock.advance(10_000);
    }
  }

  /** The weather calms down; what is wrong after hours of calm is wrong for good. */
  async settle(): Promise<void> {
    this.#stormy = false;
    this.#api.faults.calm();
    for (let minute = 0; minute < SETTLE_MINUTES && this.#differences().length > 0; minute += 1) await this.#clock.advance(60_000);
    this.#wrong.push(...this.#differences(), ...this.#mirror.wrong);
  }

  async end(): Promise<WeatherReport> {
    this.#stop.abort();
    this.#queue.close();
    await Promise.all(this.#running);
    await this.#client.close();
    const leaked = { timers: this.#clock.pending, watches: this.#api.openWatches, keys: this.#inWork.size };
    return { wrong: this.#wrong, leaked, faults: Object.fromEntries(this.#api.faults.seen), mostAtOnce: this.#mostAtOnce };
  }

  #differences(): readonly string[] {
    const server = this.#api.objects(things);
    return [
      ...differencesOf("informer", server, this.#all.list()),
      ...differencesOf("selecting informer", server.filter(isEven), this.#even.list()),
      ...differencesOf("subscriber", server, this.#mirror.objects()),
      ...this.#editor.complaints(),
    ];
  }

  /** Somebody edits between any two requests of the operator, not only while it sleeps. */
  #disturbed(transport: Transport): Transport {
    return {
      send: (request, signal) => {
        if (this.#stormy && this.#random() < 0.05) this.#editor.edit();
        return transport.send(request, signal);
      },
      close: () => transport.close(),
    };
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(this.#stop.signal); key !== undefined; key = await this.#queue.take(this.#stop.signal)) {
      if (this.#inWork.has(key)) this.#wrong.push(`${key} was handed out twice at once`);
      this.#inWork.add(key);
      this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#inWork.size);
      const result = await this.#reconcile(key);
      if (result.ok) this.#queue.forget(key);
      else this.#queue.retry(key);
      this.#inWork.delete(key);
      this.#queue.done(key);
    }
  }

  /** Carries the size into an annotation and the status. It writes whole objects: only the resourceVersion protects others. */
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
