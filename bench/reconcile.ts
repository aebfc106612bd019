/**
 * What a pass costs when nothing has to be done, which is what nearly all passes are: queue, cache, drift check of two objects,
 * status comparison, metrics and trace. Beside it, a bare loop that plans and compares the same objects.
 */
import { MetricsRegistry, noTracing, ok, seededRandom, silentLogger, systemClock } from "#base";
import { bindController, createManager, defineController, watch, type Plan } from "#controller-runtime";
import { defineResource, jsonEqual, type KubeObject } from "#kube";
import { createKubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { ScriptedApi } from "../test/builders/scripted-api/index.ts";
import { compare } from "./support/measure.ts";

const OBJECTS = 2_000;

type Widget = KubeObject & { readonly spec: { readonly colour: string }; readonly status?: unknown };
type ConfigMap = KubeObject & { readonly data: Readonly<Record<string, string>> };
const resource = { group: "", version: "v1", namespaced: true };
const widgets = defineResource<Widget>({ ...resource, group: "lattice.dev", kind: "Widget", plural: "widgets" });
const configMaps = defineResource<ConfigMap>({ ...resource, kind: "ConfigMap", plural: "configmaps" });
const bells = defineResource<KubeObject>({ ...resource, group: "lattice.dev", kind: "Bell", plural: "bells" });

function plan({ metadata, spec }: Widget): { readonly apply: readonly ConfigMap[]; readonly commands: readonly never[] } {
  const paint = (part: string): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `${metadata.name}-${part}`,
      namespace: metadata.namespace ?? "",
      labels: { "app.kubernetes.io/name": metadata.name },
    },
    data: { colour: spec.colour, part, text: "x".repeat(200) },
  });
  return { apply: [paint("door"), paint("roof")], commands: [] };
}

export async function run(): Promise<readonly BenchResult[]> {
  const api = new ScriptedApi({ clock: systemClock, random: seededRandom(1) });
  const names = Array.from({ length: OBJECTS }, (_, at) => `w-${at}`);
  for (const name of names) {
    api.put(widgets, {
      apiVersion: "lattice.dev/v1",
      kind: "Widget",
      metadata: { name, namespace: `team-${name.length}` },
      spec: { colour: name },
    });
  }
  const passes = new Countdown();
  const stop = new AbortController();
  const running = managerOf(api, passes).run(stop.signal);
  await passes.of(OBJECTS);
  await settled(api, passes);
  const world = api.objects(widgets);
  const { measuredMs, againstMs } = await compare(
    () => ring(api, passes),
    () => bareLoop(api, world),
  );
  stop.abort();
  await running;
  const note = `overhead, less is better; ${OBJECTS} settled objects with two children each`;
  const value = (measuredMs * 1_000) / OBJECTS;
  return [{ name: "settled pass", value, unit: "µs", ratio: measuredMs / againstMs, against: "a bare loop", note }];
}

/** One bell, and every widget is looked at: the passes cost no request, so they are all that is measured. */
async function ring(api: ScriptedApi, passes: Countdown): Promise<void> {
  const done = passes.of(OBJECTS);
  api.put(bells, {
    apiVersion: "lattice.dev/v1",
    kind: "Bell",
    metadata: { name: "bell", namespace: "b", labels: { rung: String(passes.total) } },
  });
  await done;
}

/** Until a whole round has cost no request: the first ones write objects and statuses, which come back as changes. */
async function settled(api: ScriptedApi, passes: Countdown): Promise<void> {
  for (let requests = -1; requests !== api.log.length;) {
    requests = api.log.length;
    await ring(api, passes);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function managerOf(api: ScriptedApi, passes: Countdown) {
  const random = seededRandom(2);
  const painter = defineController<Widget, null, never>({
    name: "painter",
    reconciles: widgets,
    owns: [configMaps],
    watches: [watch(bells, (_bell, { cache }) => cache.list(widgets).map(({ metadata }) => metadata))],
    observe: () => Promise.resolve(ok(null)),
    plan: (widget) => ok<Plan<never>>(plan(widget)),
    status: () => (passes.one(), { painted: true }),
  });
  return createManager({
    client: createKubeClient({ transport: api.transport, clock: systemClock, random }),
    controllers: [bindController(painter, {})],
    clock: systemClock,
    random,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    tracer: noTracing,
    identity: "bench",
    limits: { settledMs: 86_400_000 },
  });
}

async function bareLoop(api: ScriptedApi, world: readonly Widget[]): Promise<void> {
  let wrong = 0;
  for (const widget of world) {
    for (const wanted of plan(widget).apply) {
      const live = api.object(configMaps, { namespace: wanted.metadata.namespace, name: wanted.metadata.name });
      if (!jsonEqual(wanted.data, live?.data)) wrong += 1;
    }
    await Promise.resolve();
  }
  if (wrong > 0) throw new Error(`${wrong} objects are not as planned`);
}

/** Counts passes down. */
class Countdown {
  total = 0;
  #left = 0;
  #done: () => void = () => {};

  of(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  one(): void {
    this.total += 1;
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}
