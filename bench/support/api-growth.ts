/** The effect of 100,000 objects on requests: get, create and selective lists (flat is 1), and the memory of an object. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expectOk, silentLogger, systemClock } from "#base";
import { builtinKinds, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../../scripts/bench/bench.ts";
import type { ApiMemory } from "./api-memory-child.ts";
import { configMap, configMaps } from "./anchor-objects.ts";
import { compare } from "./measure.ts";

const [FEW, MANY] = [1_000, 100_000];
export const PER_NAMESPACE = 100;
const OPERATIONS = 200;
const CHILD = join(import.meta.dirname, "api-memory-child.ts");

type Filled = { readonly client: KubeClient; readonly namespaces: number };
type Operation = { readonly name: string; readonly perform: (filled: Filled, at: number) => Promise<void> };

export async function growth(): Promise<readonly BenchResult[]> {
  const [few, many] = [await filled(FEW), await filled(MANY)];
  const results: BenchResult[] = [];
  for (const operation of OPERATIONS_ON_MANY) results.push(await asItGrows(operation, many, few));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", CHILD]);
  const { bytes, jsonBytes } = JSON.parse(stdout) as ApiMemory;
  const note = `less is better; created through the API, with defaults, owners, indexes and history; its JSON is ${jsonBytes} bytes`;
  results.push({ name: "memory per ConfigMap", value: bytes, unit: "bytes", ratio: bytes / jsonBytes, against: "its JSON", note });
  return results;
}

let created = 0;

const OPERATIONS_ON_MANY: readonly Operation[] = [
  {
    name: "get",
    perform: async ({ client, namespaces }, at) => {
      const namespace = `team-${(at * 7) % namespaces}`;
      expectOk(await client.get(configMaps, { namespace, name: `cm-${at % PER_NAMESPACE}` }));
    },
  },
  {
    name: "create and delete",
    perform: async ({ client, namespaces }, at) => {
      const namespace = `team-${(at * 7) % namespaces}`;
      const made = configMap(1_000_000 + created++, namespace);
      expectOk(await client.create(configMaps, made));
      expectOk(await client.delete(configMaps, { namespace, name: made.metadata.name }));
    },
  },
  {
    name: `list of a namespace of ${PER_NAMESPACE}`,
    perform: async ({ client, namespaces }, at) => expectItems(client, { namespace: `team-${(at * 7) % namespaces}` }, PER_NAMESPACE),
  },
  {
    name: `list by a label that ${PER_NAMESPACE} objects have`,
    perform: async ({ client, namespaces }, at) =>
      expectItems(client, { labelSelector: `shard=shard-${(at * 7) % namespaces}` }, PER_NAMESPACE),
  },
];

async function expectItems(client: KubeClient, query: { namespace?: string; labelSelector?: string }, wanted: number): Promise<void> {
  const { items } = expectOk(await client.list(configMaps, query));
  if (items.length !== wanted) throw new Error(`the list has ${items.length} items, not ${wanted}`);
}

async function asItGrows({ name, perform }: Operation, many: Filled, few: Filled): Promise<BenchResult> {
  const on = (on: Filled) => async () => {
    for (let at = 0; at < OPERATIONS; at += 1) await perform(on, at);
  };
  const { measuredMs, againstMs } = await compare(on(many), on(few), 5);
  const against = `the same with ${FEW.toLocaleString("en-GB")} objects`;
  const note = `time, less is better and 1 is flat; ${MANY.toLocaleString("en-GB")} ConfigMaps, in process`;
  return {
    name: `${name}, as it grows`,
    value: (measuredMs / OPERATIONS) * 1_000,
    unit: "µs",
    ratio: measuredMs / againstMs,
    against,
    note,
  };
}

async function filled(count: number): Promise<Filled> {
  const [store, clock, random] = [createMemoryStore(), systemClock, Math.random];
  const server = createApiServer({ store, types: builtinKinds(store), clock, random });
  const client = inProcessClient(server, { clock, random, logger: silentLogger });
  await fill(client, count);
  return { client, namespaces: count / PER_NAMESPACE };
}

export async function fill(client: KubeClient, count: number): Promise<void> {
  const namespaces = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;
  for (let at = 0; at < count; at += 1) {
    const namespace = `team-${Math.floor(at / PER_NAMESPACE)}`;
    if (at % PER_NAMESPACE === 0)
      expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }));
    const made = configMap(at % PER_NAMESPACE, namespace);
    const labels = { ...made.metadata.labels, shard: `shard-${at % (count / PER_NAMESPACE)}` };
    expectOk(await client.create(configMaps, { ...made, metadata: { ...made.metadata, labels } }));
  }
}
