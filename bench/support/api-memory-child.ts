/** Run by api-growth.ts in its own process: fills a server through its API and prints the memory of one object. */
import { expectOk, silentLogger, systemClock as clock } from "#base";
import { builtinKinds, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";
import { configMaps } from "./anchor-objects.ts";
import { fill } from "./api-growth.ts";

export type ApiMemory = { readonly bytes: number; readonly jsonBytes: number };

const OBJECTS = 20_000;
const [store, random] = [createMemoryStore(), Math.random];
const server = createApiServer({ store, types: builtinKinds(store), clock, random });
const client = inProcessClient(server, { clock, random, logger: silentLogger });

const before = await heapUsed();
await fill(client, OBJECTS);
const after = await heapUsed();
const one = expectOk(await client.get(configMaps, { namespace: "team-1", name: "cm-1" }));
console.log(JSON.stringify({ bytes: (after - before) / OBJECTS, jsonBytes: Buffer.byteLength(JSON.stringify(one)) } satisfies ApiMemory));

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
