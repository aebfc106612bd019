/**
 * The storage of the API server: the cost of its operations with 1,000 and with 100,000 objects (flat is 1), the memory of an object, and
 * the cost of writes to disk.
 */
import { execFile } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expectOk, silentLogger, systemClock } from "#base";
import { keyOf, keyText, type KubeObject } from "#kube";
import { createMemoryStore, openPersistentStore, type Store } from "#kube-server";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { compare, median } from "./support/measure.ts";
import { pod } from "./support/pods.ts";
import type { StoreMemory } from "./support/store-memory-child.ts";

const COLLECTION = "/pods";
const [FEW, MANY] = [1_000, 100_000];
const PER_NAMESPACE = 100;
const WATCHERS = 1_000;
const OPERATIONS = 2_000;
const CHILD = join(import.meta.dirname, "support/store-memory-child.ts");

type Operation = { readonly name: string; readonly count: number; readonly run: (store: Store, round: number) => void };

export async function run(): Promise<readonly BenchResult[]> {
  const [few, many] = [filled(FEW), filled(MANY)];
  const results: BenchResult[] = [];
  for (const operation of [get, create, listNamespace, listByLabel]) results.push(await asItGrows(operation, many, few));
  results.push(await getAny(many));
  const watched = [many, few].map((store) => watch(store));
  results.push(await asItGrows(fanOut, many, few));
  for (const end of watched) end();
  return [...results, ...(await onDisk()), ...(await memory())];
}

/**
 * Always a thousand different keys, spread over all: with more, the bench would measure the caches of the processor, also for a Map.
 * `getAny` shows that.
 */
const get: Operation = {
  name: "get",
  count: OPERATIONS * 10,
  run: (store) => {
    const step = store.count(COLLECTION) / FEW;
    for (let at = 0; at < OPERATIONS * 10; at += 1) {
      if (store.get(COLLECTION, keyAt((at % FEW) * step)) === undefined) throw new Error("an object is missing");
    }
  },
};

/** New keys are between the old ones, not after them; they are deleted again, so that the size of the store does not change. */
const create: Operation = {
  name: "create and delete",
  count: OPERATIONS,
  run: (store) => {
    const size = store.count(COLLECTION);
    const keys = Array.from({ length: OPERATIONS }, (_, at) => `${keyAt((at % FEW) * (size / FEW))}-new-${at}`);
    for (const key of keys) write(store, key, light(key, 0));
    for (const key of keys) write(store, key, undefined);
  },
};

const listNamespace: Operation = {
  name: `list of a namespace of ${PER_NAMESPACE}`,
  count: OPERATIONS,
  run: (store) => {
    const namespaces = store.count(COLLECTION) / PER_NAMESPACE;
    for (let at = 0; at < OPERATIONS; at += 1) {
      const { items } = expectOk(store.list(COLLECTION, { namespace: `team-${(at % 10) * (namespaces / 10)}` }));
      if (items.length !== PER_NAMESPACE) throw new Error(`the list has ${items.length} items`);
    }
  },
};

const listByLabel: Operation = {
  name: `list by a label that ${PER_NAMESPACE} objects have`,
  count: OPERATIONS,
  run: (store) => {
    const groups = store.count(COLLECTION) / PER_NAMESPACE;
    for (let at = 0; at < OPERATIONS; at += 1) {
      const where = { path: ["metadata", "labels", "group"], value: `group-${(at % 10) * (groups / 10)}` };
      const { items } = expectOk(store.list(COLLECTION, { where }));
      if (items.length !== PER_NAMESPACE) throw new Error(`the list has ${items.length} items`);
    }
  },
};

const fanOut: Operation = {
  name: `event to one of ${WATCHERS} watchers`,
  count: 200 * WATCHERS,
  run: (store, round) => {
    for (let at = 0; at < 200; at += 1) write(store, keyAt(at), light(keyAt(at), round));
  },
};

async function asItGrows({ name, count, run: perform }: Operation, many: Store, few: Store): Promise<BenchResult> {
  let round = 0;
  const on = (store: Store) => async () => {
    round += 1;
    perform(store, round);
  };
  const { measuredMs, againstMs } = await compare(on(many), on(few));
  const against = `the same with ${FEW.toLocaleString("en-GB")}`;
  const note = `time, less is better and 1 is flat; ${MANY.toLocaleString("en-GB")} objects`;
  return { name, value: (measuredMs / count) * 1_000, unit: "µs", ratio: measuredMs / againstMs, against, note };
}

async function onDisk(): Promise<readonly BenchResult[]> {
  const home = mkdtempSync(join(tmpdir(), "lattice-bench-"));
  const { store: disk } = expectOk(openPersistentStore({ dataDir: join(home, "store"), clock: systemClock, logger: silentLogger }));
  const ram = createMemoryStore();
  const bare = openSync(join(home, "bare"), "a");
  const objects = Array.from({ length: OPERATIONS }, (_, at) => pod(at, at));
  const into = (store: Store) => async () => {
    for (const object of objects) write(store, keyText(keyOf(object)), object);
  };
  const append = async () => {
    for (const object of objects) writeSync(bare, `${JSON.stringify(object)}\n`);
  };
  const beside = async (other: () => Promise<void>, against: string): Promise<BenchResult> => {
    const { measuredMs, againstMs } = await compare(into(disk), other);
    const note = `time, less is better; a pod of ${Buffer.byteLength(JSON.stringify(objects[0]))} bytes, snapshots included, fsync never`;
    return {
      name: "write kept on disk",
      value: (measuredMs / OPERATIONS) * 1_000,
      unit: "µs",
      ratio: measuredMs / againstMs,
      against,
      note,
    };
  };
  const results = [await beside(into(ram), "in memory"), await beside(append, "JSON.stringify and writeSync")];
  disk.close();
  closeSync(bare);
  rmSync(home, { recursive: true, force: true });
  return results;
}

async function memory(): Promise<readonly BenchResult[]> {
  const rounds: StoreMemory[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", CHILD]);
    rounds.push(JSON.parse(stdout) as StoreMemory);
  }
  const [bytes, own, json] = [median(rounds.map((one) => one.bytes)), median(rounds.map((one) => one.ownBytes)), rounds[0]?.jsonBytes ?? 0];
  const note = `less is better; the store's own part is ${Math.round(own)} bytes per object, history included`;
  return [{ name: "memory per pod", value: bytes, unit: "bytes", ratio: bytes / json, against: "its JSON", note }];
}

function filled(count: number): Store {
  const store = createMemoryStore();
  for (let at = 0; at < count; at += 1) write(store, keyAt(at), light(keyAt(at), at % (count / PER_NAMESPACE)));
  return store;
}

function watch(store: Store): () => void {
  let seen = 0;
  const onEvent = () => (seen += 1);
  const watches = Array.from({ length: WATCHERS }, () => expectOk(store.watch({ collection: COLLECTION, from: store.revision, onEvent })));
  return () => {
    for (const { end } of watches) end();
    if (seen === 0) throw new Error("no watcher got the event");
  };
}

function keyAt(at: number): string {
  return `team-${Math.floor(at / PER_NAMESPACE)}/web-${at % PER_NAMESPACE}`;
}

async function getAny(store: Store): Promise<BenchResult> {
  const map = new Map(expectOk(store.list(COLLECTION)).items.map((stored) => [stored.key, stored]));
  const each = (find: (key: string) => unknown) => async () => {
    for (let at = 0; at < OPERATIONS * 10; at += 1)
      if (find(keyAt((at * 7_919) % MANY)) === undefined) throw new Error("an object is missing");
  };
  const timed = await compare(
    each((key) => store.get(COLLECTION, key)),
    each((key) => map.get(key)),
  );
  const [value, ratio] = [(timed.measuredMs / (OPERATIONS * 10)) * 1_000, timed.measuredMs / timed.againstMs];
  return {
    name: "get of any",
    value,
    unit: "µs",
    ratio,
    against: "a bare Map",
    note: `time, less is better; ${MANY.toLocaleString("en-GB")} objects`,
  };
}

/** Minimal objects: only the store is measured. */
function light(key: string, group: number): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: key, labels: { group: `group-${group}` } } };
}

function write(store: Store, key: string, object: KubeObject | undefined): void {
  const expected = store.get(COLLECTION, key)?.revision;
  expectOk(store.write({ collection: COLLECTION, key, expected, object: object === undefined ? undefined : () => object }));
}
