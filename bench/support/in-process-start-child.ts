/** Run by in-process-starts.ts in its own process, because modules are loaded once. Its argument is the entry point to import. */
import type { InProcessStarts } from "./in-process-starts.ts";

const LATER = 5;
const entry = process.argv[2] ?? "";

/** Nothing else is imported before the measurement: shared modules would already be loaded. */
async function startOne(): Promise<number> {
  const start = performance.now();
  const { startEmbeddedCluster, resources } = (await import(entry)) as typeof import("#embedded-cluster");
  await using cluster = await startEmbeddedCluster();
  const first = await cluster.client.get(resources.namespaces, { name: "default" });
  if (!first.ok) throw new Error(first.error.message);
  return performance.now() - start;
}

const firstMs = await startOne();
const later: number[] = [];
for (let at = 0; at < LATER; at += 1) later.push(await startOne());
later.sort((a, b) => a - b);
console.log(JSON.stringify({ firstMs, laterMs: later[Math.floor(LATER / 2)] ?? 0 } satisfies InProcessStarts));
