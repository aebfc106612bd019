/**
 * The memory of one cached object, compared with a bare Map of the same objects and with their JSON. Measured in child processes with an
 * explicit garbage collection, so that measurements do not share a heap.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { median } from "./support/measure.ts";
import type { CacheKind, CacheMemory } from "./support/cache-memory-child.ts";

const CHILD = fileURLToPath(new URL("support/cache-memory-child.ts", import.meta.url));
const ROUNDS = 3;

export async function run(): Promise<readonly BenchResult[]> {
  const [informer, whole, map] = [await measure("informer"), await measure("informer-whole"), await measure("map")];
  const note = `less is better; ${informer.objects} pods`;
  const name = "memory per cached pod";
  return [
    row(name, informer.bytes, map.bytes, { against: "a bare Map of the same pods", note: `${note}; managedFields are dropped` }),
    row(name, informer.bytes, informer.jsonBytes, { against: "the pod's JSON", note }),
    row("the same with managedFields kept", whole.bytes, map.bytes, {
      against: "a bare Map of the same pods",
      note: `${note}; the cache's own cost`,
    }),
  ];
}

function row(name: string, value: number, base: number, rest: { against: string; note: string }): BenchResult {
  return { name, value, unit: "bytes", ratio: value / base, ...rest };
}

async function measure(kind: CacheKind): Promise<CacheMemory> {
  const rounds: CacheMemory[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", CHILD, kind]);
    rounds.push(JSON.parse(stdout) as CacheMemory);
  }
  const [first] = rounds;
  if (first === undefined) throw new Error("nothing was measured");
  return { ...first, bytes: median(rounds.map(({ bytes }) => bytes)) };
}
