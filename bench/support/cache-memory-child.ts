/** Run by bench/cache-memory.ts in its own process: fills one kind of cache and prints its memory. */
import { MetricsRegistry, ok, silentLogger, systemClock } from "#base";
import { Informer } from "#controller-runtime";
import { keyOf, keyText, type KubeObject } from "#kube";
import { pod, pods } from "./pods.ts";

export type CacheKind = "informer" | "informer-whole" | "map";
export type CacheMemory = { readonly bytes: number; readonly jsonBytes: number; readonly objects: number };

const OBJECTS = 10_000;
const PAGE = 500;

const [kind] = process.argv.slice(2);
const whole = kind === "informer-whole";
const fill = (count: number) => (kind === "map" ? fillMap(count) : fillInformer(count, whole ? (object) => object : undefined));
const warm = await fill(PAGE); // code that is loaded and compiled on first use is not counted
const before = await heapUsed();
const cache = await fill(OBJECTS);
const bytes = ((await heapUsed()) - before) / OBJECTS;
if (cache.size() !== OBJECTS || warm.size() !== PAGE) throw new Error("the cache does not have the expected objects");
const jsonBytes = Buffer.byteLength(JSON.stringify(pod(1, 1)));
console.log(JSON.stringify({ bytes, jsonBytes, objects: OBJECTS } satisfies CacheMemory));

type Cache = { size(): number };

/** From text, as a client gets them: objects made by JSON.parse are laid out differently from literals. */
function pageOf(start: number, end: number): KubeObject[] {
  const page = Array.from({ length: end - start }, (_, at) => pod(start + at, start + at + 1));
  return JSON.parse(JSON.stringify(page)) as KubeObject[];
}

async function fillMap(count: number): Promise<Cache> {
  const map = new Map<string, KubeObject>();
  for (let start = 0; start < count; start += PAGE)
    for (const object of pageOf(start, start + PAGE)) map.set(keyText(keyOf(object)), object);
  return { size: () => map.size };
}

async function fillInformer(count: number, transform?: (object: KubeObject) => KubeObject): Promise<Cache> {
  const stop = new AbortController();
  const client = {
    get: () => Promise.reject(new Error("not supported")),
    async list(_resource: unknown, query: { continue?: string | undefined } = {}) {
      const start = Number(query.continue ?? 0);
      const next = start + PAGE < count ? { continue: String(start + PAGE) } : {};
      return ok({ metadata: { resourceVersion: String(count), ...next }, items: pageOf(start, start + PAGE) }) as never;
    },
    watch() {
      stop.abort();
      return (async function* () {})();
    },
  };
  const options = { clock: systemClock, random: () => 0.5, logger: silentLogger, metrics: new MetricsRegistry() };
  const informer = new Informer<KubeObject>({ client, resource: pods, ...options, transform });
  await informer.run(stop.signal);
  return { size: () => informer.health().objects };
}

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
