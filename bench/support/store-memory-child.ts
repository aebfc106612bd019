/** Run by bench/store.ts in its own process: fills a store and prints the memory of one object. */
import { expectOk } from "#base";
import { keyOf, keyText, type KubeObject } from "#kube";
import { createMemoryStore } from "#kube-server";
import { pod } from "./pods.ts";

export type StoreMemory = {
  /** Per object, with the object itself. */
  readonly bytes: number;
  /** Per object, what the store adds: indexes and history. */
  readonly ownBytes: number;
  readonly jsonBytes: number;
};

const OBJECTS = 20_000;

/** From text, as an API server gets them: objects made by JSON.parse are laid out differently from literals. */
const parsed = (at: number) => JSON.parse(JSON.stringify(pod(at, at))) as KubeObject;

fill(createMemoryStore(), [parsed(1)]); // code that is loaded on first use is not counted
const before = await heapUsed();
const objects = Array.from({ length: OBJECTS }, (_, at) => parsed(at));
const bare = await heapUsed();
const store = fill(createMemoryStore(), objects);
const after = await heapUsed();
if (store.count("/pods") !== OBJECTS) throw new Error("the store does not have the expected objects");
const jsonBytes = Buffer.byteLength(JSON.stringify(pod(1, 1)));
console.log(JSON.stringify({ bytes: (after - before) / OBJECTS, ownBytes: (after - bare) / OBJECTS, jsonBytes } satisfies StoreMemory));

function fill(into: ReturnType<typeof createMemoryStore>, all: readonly KubeObject[]): typeof into {
  for (const object of all) {
    expectOk(into.write({ collection: "/pods", key: keyText(keyOf(object)), expected: undefined, object: () => object }));
  }
  return into;
}

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
