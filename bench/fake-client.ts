/**
 * The API server in this process as a test double: the cost of one operation with 1,000 ConfigMaps and 1,000 Deployments, compared with the
 * fake client of controller-runtime and kube-fake-client in Rust. Where Go, Rust and the sources of these peers are available, they run in
 * the same invocation; otherwise their published figures are used, and marked as such. The ratio is how many times faster this one is.
 *
 * All have the same interface: they take a typed object and return a copy. This one also defaults, validates and tracks field owners.
 */
import { expectOk, silentLogger, systemClock, type Result } from "#base";
import { apiVersionOf, type Json, type KubeObject, type Resource } from "#kube";
import { builtinKinds, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";
import type { KubeClient, KubeError } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { configMap, configMaps, deployment, deployments, withImage, type Settings, type Workload } from "./support/anchor-objects.ts";
import { measureGoFakeClient, measureRustFakeClient, PUBLISHED_GO, PUBLISHED_RUST, type Figures } from "./support/fake-client-peers.ts";

const COUNT = 1_000;
const ROUNDS = 7;
/** Reading the CPU clock takes a tenth of the fastest operation. */
const CHECKED_EVERY = 50;
/** CPU time: on a busy machine wall time passes without progress, and code that ran only a few times is not compiled yet. */
const [WARM_UP_MS, ROUND_MS] = [1_000, 60];

/** `name` is also the peer's. */
type Operation = { readonly name: string; readonly run: (round: number) => Promise<unknown> };

export async function run(): Promise<readonly BenchResult[]> {
  const client = await filledClient();
  const peers = { go: measureGoFakeClient(), rust: measureRustFakeClient() };
  const results: BenchResult[] = [];
  for (const operation of [...configMapOperations(client), ...deploymentOperations(client)]) {
    results.push(result(operation.name, await cpuMicros(operation.run), peers));
  }
  await client.close();
  return results;
}

type Peers = { readonly go: Figures | undefined; readonly rust: Figures | undefined };

function result(name: string, micros: number, { go, rust }: Peers): BenchResult {
  const peer = (go ?? PUBLISHED_GO).get(name) ?? Number.NaN;
  const other = (rust ?? PUBLISHED_RUST).get(name) ?? Number.NaN;
  const against =
    go === undefined
      ? "controller-runtime's fake client (published figure: Go or the peer's sources are not available)"
      : "controller-runtime's fake client";
  const besides = `Rust kube-fake-client${rust === undefined ? ", published" : ""}: ${other.toFixed(0)} µs, ${(other / micros).toFixed(2)}×`;
  const note = `CPU time, more is better; that takes ${peer.toFixed(0)} µs; ${besides}`;
  return { name, value: micros, unit: "µs", ratio: peer / micros, against, note };
}

async function filledClient(): Promise<KubeClient> {
  const [store, clock, random] = [createMemoryStore(), systemClock, Math.random];
  const server = createApiServer({ store, types: builtinKinds(store), clock, random });
  const client = inProcessClient(server, { clock, random, logger: silentLogger });
  for (let at = 0; at < COUNT; at += 1) {
    expectOk(await client.create(configMaps, configMap(at)));
    expectOk(await client.create(deployments, deployment(at)));
  }
  return client;
}

function configMapOperations(client: KubeClient): readonly Operation[] {
  const named = (name: string) => ({ namespace: "default", name });
  let current: Settings | undefined;
  return [
    { name: "get configmap", run: (round) => done(client.get(configMaps, named(`cm-${round % COUNT}`))) },
    { name: "list 100 of 1,000 configmap", run: () => listed(client, configMaps) },
    {
      name: "update configmap",
      run: async (round) => {
        const before = current ?? expectOk(await client.get(configMaps, named("cm-7")));
        current = expectOk(await client.update(configMaps, { ...before, data: { ...before.data, "key-0": String(round) } }));
      },
    },
    {
      name: "SMP configmap",
      run: (round) => done(client.patch(configMaps, named("cm-8"), strategic({ data: { "key-0": String(round) } }))),
    },
    { name: "SSA configmap", run: (round) => done(apply(client, configMaps, appliedConfigMap(round))) },
    { name: "create configmap", run: (round) => done(client.create(configMaps, configMap(10_000 + round))) },
  ];
}

function deploymentOperations(client: KubeClient): readonly Operation[] {
  const named = (name: string) => ({ namespace: "default", name });
  const spare = Array.from({ length: 4 * COUNT }, (_, at) => deployment(10_000 + at));
  const image = (round: number) => `images.example/app:${round}`;
  const container = (round: number) => ({ name: "app", image: image(round), env: [{ name: "ADDED", value: String(round) }] });
  const made = { ...deployment(0), metadata: { name: "applied", namespace: "default", labels: { app: "web" } } } as Workload;
  let current: Workload | undefined;
  return [
    { name: "get deployment", run: (round) => done(client.get(deployments, named(`web-${round % COUNT}`))) },
    { name: "list 100 of 1,000 deployment", run: () => listed(client, deployments) },
    {
      name: "update deployment",
      run: async (round) => {
        const before = current ?? expectOk(await client.get(deployments, named("web-7")));
        current = expectOk(await client.update(deployments, withImage(before, image(round))));
      },
    },
    {
      name: "SMP deployment",
      run: (round) =>
        done(client.patch(deployments, named("web-8"), strategic({ spec: { template: { spec: { containers: [container(round)] } } } }))),
    },
    { name: "SSA deployment", run: (round) => done(apply(client, deployments, withImage(made, image(round)))) },
    { name: "create deployment", run: (round) => done(client.create(deployments, renamed(spare[round % spare.length], `new-${round}`))) },
  ];
}

function renamed(object: KubeObject | undefined, name: string): KubeObject {
  if (object === undefined) throw new Error("there is no such object");
  return { ...object, metadata: { ...object.metadata, name } };
}

function appliedConfigMap(round: number): KubeObject {
  const made = configMap(5_000);
  return { ...made, apiVersion: apiVersionOf(configMaps), data: { ...made.data, "key-0": String(round) } } as KubeObject;
}

function strategic(patch: Json): { readonly type: "strategic"; readonly patch: Json } {
  return { type: "strategic", patch };
}

function apply(client: KubeClient, resource: Resource, object: KubeObject): Promise<Result<KubeObject, KubeError>> {
  return client.apply(resource, object, { fieldManager: "bench", force: true });
}

async function listed(client: KubeClient, resource: Resource): Promise<void> {
  const { items } = expectOk(await client.list(resource, { namespace: "default", labelSelector: "group=3" }));
  if (items.length < 100) throw new Error(`the list has ${items.length} items`);
}

async function done(answer: Promise<Result<unknown, KubeError>>): Promise<void> {
  const answered = await answer;
  if (!answered.ok) throw new Error(answered.error.message);
}

/** The best of several rounds, in microseconds of CPU, as the peer counts: on a shared machine everything else is noise. */
async function cpuMicros(work: (round: number) => Promise<unknown>): Promise<number> {
  let round = 0;
  const workFor = async (ms: number): Promise<number> => {
    const [before, first] = [process.cpuUsage(), round];
    let micros = 0;
    while (micros < ms * 1_000) {
      for (const end = round + CHECKED_EVERY; round < end;) await work(round++);
      const { user, system } = process.cpuUsage(before);
      micros = user + system;
    }
    return micros / (round - first);
  };
  await workFor(WARM_UP_MS);
  let fastest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < ROUNDS; at += 1) fastest = Math.min(fastest, await workFor(ROUND_MS));
  return fastest;
}
