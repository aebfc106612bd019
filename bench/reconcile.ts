/**
 * The cost of a pass without changes, as most passes are: queue, cache, drift check of two objects, status comparison, metrics and trace.
 * Compared with a bare loop that plans and compares the same objects.
 */
import { expectOk, MetricsRegistry, noTracing, ok, seededRandom, silentLogger, systemClock } from "#base";
import { bindController, createManager, defineController, watch, type Plan } from "#controller-runtime";
import { defineResource, jsonEqual, keyOf, keyText, type KubeObject } from "#kube";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { openCrd } from "../test/builders/open-crd.ts";
import { compare } from "./support/measure.ts";

const OBJECTS = 2_000;

type Widget = KubeObject & { readonly spec: { readonly colour: string }; readonly status?: unknown };
type ConfigMap = KubeObject & { readonly data: Readonly<Record<string, string>> };
const resource = { group: "", version: "v1", namespaced: true };
const widgets = defineResource<Widget>({ ...resource, group: "lattice.dev", kind: "Widget", plural: "widgets" });
const configMaps = defineResource<ConfigMap>({ ...resource, kind: "ConfigMap", plural: "configmaps" });
const bells = defineResource<KubeObject>({ ...resource, group: "lattice.dev", kind: "Bell", plural: "bells" });

const BELL = { apiVersion: "lattice.dev/v1", kind: "Bell", metadata: { name: "bell", namespace: "b" } };
const OPERATOR = { name: "operator", groups: ["system:masters"] };

function plan({ metadata, spec }: Widget): { readonly apply: readonly ConfigMap[]; readonly commands: readonly never[] } {
  const child = (part: string): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `${metadata.name}-${part}`,
      namespace: metadata.namespace ?? "",
      labels: { "app.kubernetes.io/name": metadata.name },
    },
    data: { colour: spec.colour, part, text: "x".repeat(200) },
  });
  return { apply: [child("first"), child("second")], commands: [] };
}

export async function run(): Promise<readonly BenchResult[]> {
  const names = Array.from({ length: OBJECTS }, (_, at) => `w-${at}`);
  const objects = names.map((name) => ({
    apiVersion: "lattice.dev/v1",
    kind: "Widget",
    metadata: { name, namespace: `team-${name.length}` },
    spec: { colour: name },
  }));
  await using cluster = await startEmbeddedCluster({ objects: [openCrd(widgets), openCrd(bells), ...objects, BELL] });
  const passes = new Countdown();
  const stop = new AbortController();
  const running = managerOf(cluster, passes).run(stop.signal);
  await passes.of(OBJECTS);
  await settled(cluster, passes);
  const world = expectOk(await cluster.client.list(widgets)).items;
  const live = expectOk(await cluster.client.list(configMaps)).items;
  const byKey = new Map(live.map((object) => [keyText(keyOf(object)), object]));
  const { measuredMs, againstMs } = await compare(
    () => ring(cluster, passes),
    () => bareLoop(byKey, world),
  );
  stop.abort();
  await running;
  const note = `overhead, less is better; ${OBJECTS} settled objects with two children each`;
  const value = (measuredMs * 1_000) / OBJECTS;
  return [{ name: "settled pass", value, unit: "µs", ratio: measuredMs / againstMs, against: "a bare loop", note }];
}

/** A change of the bell triggers a pass of every widget. The passes send no request, so nothing else is measured. */
async function ring(cluster: EmbeddedCluster, passes: Countdown): Promise<void> {
  const done = passes.of(OBJECTS);
  const patch = { metadata: { labels: { rung: String(passes.total) } } };
  expectOk(await cluster.client.patch(bells, BELL.metadata, { type: "merge", patch }));
  await done;
}

/** Until a whole round has sent no request: the first ones write objects and statuses, which cause further changes. */
async function settled(cluster: EmbeddedCluster, passes: Countdown): Promise<void> {
  const sent = () => cluster.actions.filter({ user: OPERATOR.name }).at(-1)?.number;
  for (let last: number | undefined = -1; last !== sent();) {
    last = sent();
    await ring(cluster, passes);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function managerOf(cluster: EmbeddedCluster, passes: Countdown) {
  const random = seededRandom(2);
  const controller = defineController<Widget, null, never>({
    name: "widget",
    reconciles: widgets,
    owns: [configMaps],
    watches: [watch(bells, (_bell, { cache }) => cache.list(widgets).map(({ metadata }) => metadata))],
    observe: () => Promise.resolve(ok(null)),
    plan: (widget) => ok<Plan<never>>(plan(widget)),
    status: () => (passes.one(), { applied: true }),
  });
  return createManager({
    client: cluster.clientFor(OPERATOR),
    controllers: [bindController(controller, {})],
    clock: systemClock,
    random,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    tracer: noTracing,
    identity: "bench",
    limits: { settledMs: 86_400_000 },
  });
}

async function bareLoop(objects: ReadonlyMap<string, ConfigMap>, world: readonly Widget[]): Promise<void> {
  let wrong = 0;
  for (const widget of world) {
    for (const wanted of plan(widget).apply) {
      const live = objects.get(keyText(keyOf(wanted)));
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
