/**
 * A move of 1,000 and of 10,000 objects between two embedded API servers in this process, beside a bare loop of the writes that no move can do
 * without (create, status, delete); the memory of `lattice move` in a process of its own; what one change costs a cell with 500 clusters, beside one
 * with 5; and, when the programs of Kubernetes and clusterctl are there, `lattice move` beside `clusterctl move` of equal objects between two real API
 * servers, in one run. More than a fifth of the time of clusterctl, or a value above another limit, makes the exit code 1.
 *
 * The programs are those of `npm run test:kube -- --all`, or in the folder that LATTICE_KUBE_BIN names.
 */
import { join } from "node:path";
import { expectOk, seededRandom, systemClock } from "#base";
import { capiMachines, keyOf, namespaces, secrets, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { moveNamespace } from "#pivot";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { freshDist } from "../scripts/build/fresh-dist.ts";
import { binaryCache, missingBinaries } from "../scripts/kube/find-binaries.ts";
import { BINARIES, CLUSTERCTL } from "../scripts/kube/versions.ts";
import { makeProvisioned, startMoveWorld } from "../test/builders/move-world.ts";
import { costOfChange, type ChangeCost } from "./support/cell-change.ts";
import { collectGarbage } from "./support/collect-garbage.ts";
import { HEAP_MB, measureMove, type MeasuredMove } from "./support/measured-move.ts";
import { FIXED_OBJECTS, MovePlanes, OBJECTS_PER_MACHINE } from "./support/move-planes.ts";

const REAL_OBJECTS = Number(process.env["LATTICE_BENCH_OBJECTS"] ?? 1_000);
const PARALLEL = 16;
const LIMIT_PERCENT = 20;
/** Of heap, for each 1,000 objects. */
const LEFT_KB = 1_024;
/** Of the largest RSS with ten times as many objects. A move holds names, owners and hashes of all objects, and the contents of a batch. */
const MEMORY_LIMIT = 1.4;
const MEMORY_RUNS = 3;
const FEW_CLUSTERS = 5;
const MANY_CLUSTERS = 500;
const CHANGE_LIMIT = 1.5;

export async function run(): Promise<readonly BenchResult[]> {
  const program = join(await freshDist(), "lattice.js");
  return [
    ...(await embedded(1_000)),
    ...(await embedded(10_000)),
    ...(process.platform === "linux" ? [...(await memory(program)), ...(await oneChange())] : []),
    ...(await real(program)),
  ];
}

const machinesFor = (objects: number) => Math.ceil((objects - FIXED_OBJECTS) / OBJECTS_PER_MACHINE);

async function embedded(objects: number): Promise<readonly BenchResult[]> {
  const world = await startMoveWorld(0);
  const name = "big";
  await makeProvisioned(world.source.client, name, machinesFor(objects));
  const before = heapAfterCollection();
  let peak = before;
  const began = performance.now();
  const report = expectOk(
    await moveNamespace({
      source: world.source.client,
      target: world.target.client,
      namespace: name,
      identity: "bench",
      clock: systemClock,
      random: seededRandom(1),
      signal: new AbortController().signal,
      waitMs: 10_000,
      leaseMs: 600_000,
      onWait: () => {},
      report: () => void (peak = Math.max(peak, process.memoryUsage().heapUsed)),
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const left = (heapAfterCollection() - before) / 1_024 / (report.objects / 1_000);
  const bare = await bareLoop(world.target.client, world.source.client, name);
  await world.close();
  const title = `${report.objects.toLocaleString("en-GB")} objects, embedded`;
  const perSecond = report.objects / seconds;
  return [
    {
      name: title,
      value: perSecond,
      unit: "objects/s",
      ratio: perSecond / bare,
      against: "a bare loop of create, status and delete",
      note: "more is better; a move also reads both sides twice, writes field managers and frees finalizers",
    },
    {
      name: `${title}: heap that is left after a collection`,
      value: Math.max(0, left),
      unit: "KB per 1,000 objects",
      ratio: Math.max(0, left) / LEFT_KB,
      against: "1 MB",
      note: `less is better, and the same for any number of objects; both servers are in this process and keep their events; at most ${Math.round((peak - before) / 1_024 / 1_024)} MB more while it ran`,
    },
  ];
}

async function memory(program: string): Promise<readonly BenchResult[]> {
  const small = await medianMove(program, machinesFor(1_000));
  const large = await medianMove(program, machinesFor(10_000));
  const perObject = (1_024 * (large.megabytes - small.megabytes)) / (large.objects - small.objects);
  const ratio = large.megabytes / small.megabytes;
  return [
    {
      name: `memory of lattice move with ${large.objects.toLocaleString("en-GB")} objects`,
      value: ratio,
      unit: "times",
      ratio,
      against: `the memory with ${small.objects.toLocaleString("en-GB")} objects`,
      note: `less is better; the largest RSS, the median of three runs, is ${small.megabytes.toFixed(0)} MB and ${large.megabytes.toFixed(0)} MB, ${perObject.toFixed(1)} kB for each object more; both with a heap of at most ${HEAP_MB} MB, in which the objects themselves have no room`,
      limit: MEMORY_LIMIT,
    },
  ];
}

/** The largest RSS of equal moves differs by a twentieth. */
async function medianMove(program: string, machines: number): Promise<MeasuredMove> {
  const runs: MeasuredMove[] = [];
  for (let run = 0; run < MEMORY_RUNS; run += 1) runs.push(await measureMove(program, machines));
  const [, median] = runs.toSorted((a, b) => a.megabytes - b.megabytes);
  if (median === undefined) throw new Error("there are fewer than two runs");
  return median;
}

async function oneChange(): Promise<readonly BenchResult[]> {
  const few = await costOfChange(FEW_CLUSTERS);
  const many = await costOfChange(MANY_CLUSTERS);
  const row = (name: keyof ChangeCost, unit: string): BenchResult => ({
    name: `a cell with ${MANY_CLUSTERS} clusters, one change`,
    value: many[name],
    unit,
    ratio: many[name] / few[name],
    against: `a cell with ${FEW_CLUSTERS} clusters`,
    note: "less is better; spec.nodes.workers of a child that owns itself, whose agent is not connected; 40 changes, without what the cell does at rest",
    limit: CHANGE_LIMIT * few[name],
  });
  return [row("requests", "requests"), row("passes", "passes"), row("cpuMs", "ms of CPU")];
}

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Objects a second: every moved object is created and gets its status at one server, and is deleted there again. */
async function bareLoop(from: KubeClient, to: KubeClient, namespace: string): Promise<number> {
  const read = async (resource: Resource) => expectOk(await from.list<KubeObject>(resource, { namespace })).items;
  const copies = [...(await read(capiMachines)).map(bareMachine), ...(await read(secrets)).map(bareSecret)];
  await to.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const began = performance.now();
  let next = 0;
  const lane = async () => {
    for (let one = copies[next++]; one !== undefined; one = copies[next++]) {
      const { resource, object, status } = one;
      expectOk(await to.create(resource, object));
      if (status !== undefined)
        expectOk(await to.patch(resource, keyOf(object), { type: "merge", patch: { status } }, { subresource: "status" }));
      expectOk(await to.delete(resource, keyOf(object)));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
  return copies.length / ((performance.now() - began) / 1_000);
}

type BareCopy = { readonly resource: Resource; readonly object: KubeObject; readonly status?: object };

function bareMachine(item: KubeObject): BareCopy & { readonly status?: never } {
  const { metadata, status, ...rest } = item as KubeObject & { readonly status?: never };
  const { name, namespace = "", labels = {} } = metadata;
  const object = {
    ...rest,
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name: `bare-${name}`, namespace, labels },
  };
  return { resource: capiMachines, object, ...(status === undefined ? {} : { status }) };
}

function bareSecret({ metadata: { name, namespace = "" }, ...rest }: KubeObject): BareCopy & { readonly status?: never } {
  return { resource: secrets, object: { ...rest, apiVersion: "v1", kind: "Secret", metadata: { name: `bare-${name}`, namespace } } };
}

async function real(program: string): Promise<readonly BenchResult[]> {
  const folder = process.env["LATTICE_KUBE_BIN"] ?? binaryCache(process.env);
  const missing = await missingBinaries(folder, [...BINARIES, CLUSTERCTL]);
  if (missing.length > 0) {
    console.log(
      `pivot: ${folder} lacks ${missing.map(({ name }) => name).join(", ")}: not measured beside clusterctl (npm run test:kube -- --all builds them)`,
    );
    return [];
  }
  const planes = await MovePlanes.start(folder, program);
  try {
    const machines = machinesFor(REAL_OBJECTS);
    const objects = FIXED_OBJECTS + machines * OBJECTS_PER_MACHINE;
    await planes.fill("ours", machines);
    await planes.fill("theirs", machines);
    const theirs = await planes.clusterctl("theirs");
    const ours = await planes.lattice("ours");
    const rate = (requests: number) => (requests / objects).toFixed(1);
    return [
      {
        name: `${objects.toLocaleString("en-GB")} objects between two real API servers: lattice move takes, of the time of clusterctl move,`,
        value: (100 * ours.seconds) / theirs.seconds,
        unit: "%",
        ratio: theirs.seconds / ours.seconds,
        against: "as fast as clusterctl move",
        note: `${ours.seconds.toFixed(1)} s, ${(objects / ours.seconds).toFixed(0)} objects/s, ${rate(ours.requests)} requests per object; clusterctl ${theirs.seconds.toFixed(1)} s, ${(objects / theirs.seconds).toFixed(1)} objects/s, ${rate(theirs.requests)} requests per object`,
        limit: LIMIT_PERCENT,
      },
    ];
  } finally {
    await planes.close();
  }
}
