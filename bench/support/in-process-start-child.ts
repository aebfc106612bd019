/** Run by in-process-starts.ts in a process of its own, because modules are loaded once. */
import type { InProcessStarts } from "./in-process-starts.ts";
import { median } from "./measure.ts";

const LATER = 5;

async function startOne(): Promise<number> {
  const start = performance.now();
  const { builtinKinds, createApiServer, createMemoryStore, inProcessClient } = await import("#kube-server");
  const { silentLogger, systemClock: clock } = await import("#base");
  const [store, random] = [createMemoryStore(), Math.random];
  const server = createApiServer({ store, types: builtinKinds(store), clock, random });
  const client = inProcessClient(server, { clock, random, logger: silentLogger });
  const first = await client.get(
    { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false },
    { namespace: undefined, name: "default" },
  );
  if (!first.ok) throw new Error(first.error.message);
  const ms = performance.now() - start;
  await client.close();
  server.close();
  store.close();
  return ms;
}

const firstMs = await startOne();
const later: number[] = [];
for (let at = 0; at < LATER; at += 1) later.push(await startOne());
console.log(JSON.stringify({ firstMs, laterMs: median(later) } satisfies InProcessStarts));
