/**
 * How many watch events an informer processes in a second, compared with the minimum for the same events: a loop that stores them in a Map.
 * Once for the informer alone, and once from bytes, through the client.
 */
import { MetricsRegistry, ok, silentLogger, systemClock, type Result } from "#base";
import { Informer } from "#controller-runtime";
import { keyOf, keyText, type KubeObject } from "#kube";
import { createKubeClient, inProcessTransport, type KubeError, type KubeReader, type KubeWatcher, type WatchEvent } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { compare } from "./support/measure.ts";
import { pod, pods } from "./support/pods.ts";

const OBJECTS = 2_000;
const EVENTS = 20_000;

export async function run(): Promise<readonly BenchResult[]> {
  const listed = Array.from({ length: OBJECTS }, (_, at) => pod(at, at + 1));
  const events = Array.from({ length: EVENTS }, (_, at) => pod(at % OBJECTS, OBJECTS + at + 1));
  return [await alone(listed, events), await fromBytes(listed, events)];
}

async function alone(listed: readonly KubeObject[], events: readonly KubeObject[]): Promise<BenchResult> {
  const client = ready(listed, events);
  const bare = async () => {
    const cache = new Map(listed.map((object) => [keyText(keyOf(object)), object]));
    for await (const item of client.watch(pods, {}, new AbortController().signal)) {
      if (item.ok && item.value.type !== "BOOKMARK") cache.set(keyText(keyOf(item.value.object)), item.value.object);
      if (item.ok && isLast(item.value)) return;
    }
  };
  const timed = await compare(() => consume(client), bare);
  return result("events, already decoded", timed, "a bare loop into a Map");
}

async function fromBytes(listed: readonly KubeObject[], events: readonly KubeObject[]): Promise<BenchResult> {
  const list = new TextEncoder().encode(
    JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(OBJECTS) }, items: listed }),
  );
  const lines = events.map((object) => new TextEncoder().encode(`${JSON.stringify({ type: "MODIFIED", object })}\n`));
  const transport = inProcessTransport(async ({ path }, signal) => ({
    code: 200,
    headers: { "content-type": "application/json" },
    body: path.includes("watch=") ? untilAborted(lines, signal) : untilAborted([list]),
  }));
  const client = createKubeClient({ transport, clock: systemClock, random: () => 0.5 });
  const bare = async () => {
    const { items } = JSON.parse(new TextDecoder().decode(list)) as { items: readonly KubeObject[] };
    const cache = new Map(items.map((object) => [keyText(keyOf(object)), object]));
    for await (const chunk of untilAborted(lines)) {
      const { object } = JSON.parse(new TextDecoder().decode(chunk.ok ? chunk.value : undefined)) as { object: KubeObject };
      cache.set(keyText(keyOf(object)), object);
    }
  };
  const timed = await compare(() => consume(client), bare);
  await client.close();
  return result("events, from bytes through the client", timed, "JSON.parse into a Map");
}

/** A server that sends prepared data: the list, then the events, then nothing until the client disconnects. */
function ready(listed: readonly KubeObject[], events: readonly KubeObject[]): KubeReader & KubeWatcher {
  const items = events.map((object) => ok({ type: "MODIFIED", object }));
  return {
    get: () => Promise.reject(new Error("not supported")),
    list: () => Promise.resolve(ok({ metadata: { resourceVersion: String(OBJECTS) }, items: listed }) as never),
    async *watch(_resource, _query, signal) {
      for (const item of items) yield item as never;
      await aborted(signal);
    },
  };
}

async function* untilAborted(chunks: readonly Uint8Array[], signal?: AbortSignal): AsyncGenerator<Result<Uint8Array, KubeError>> {
  for (const chunk of chunks) yield ok(chunk);
  if (signal !== undefined) await aborted(signal);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
}

/** A whole informer with an index and a subscriber, from its start to the last event. */
async function consume(client: KubeReader & KubeWatcher): Promise<void> {
  const stop = new AbortController();
  const options = { clock: systemClock, random: () => 0.5, logger: silentLogger, metrics: new MetricsRegistry() };
  const informer = new Informer<KubeObject>({ client, resource: pods, ...options });
  informer.addIndex("owner", ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid));
  informer.subscribe(({ after }) => after?.metadata.resourceVersion === LAST && stop.abort());
  await informer.run(stop.signal);
}

const LAST = String(OBJECTS + EVENTS);

function isLast(event: WatchEvent<KubeObject>): boolean {
  return event.type !== "BOOKMARK" && event.object.metadata.resourceVersion === LAST;
}

function result(name: string, { measuredMs, againstMs }: { measuredMs: number; againstMs: number }, against: string): BenchResult {
  const note = `speed, more is better; ${OBJECTS} objects listed, ${EVENTS} events, one index, one subscriber, metrics on`;
  return { name, value: EVENTS / (measuredMs / 1_000), unit: "events/s", ratio: againstMs / measuredMs, against, note };
}
