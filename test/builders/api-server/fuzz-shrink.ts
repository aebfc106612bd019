/**
 * Reduces a fault to the fewest requests, sent one after the other to a new world, of which the last has the same fault.
 *
 * A fault that needs concurrent requests cannot be reproduced like this. Then the result is empty, and the chapter must be run again.
 */
import { describeThrown } from "#base";
import { sendFuzzed } from "./fuzz-in-process.ts";
import { faultOf } from "./fuzz-faults.ts";
import type { FuzzRequest } from "./fuzz-requests.ts";
import { startFuzzWorld, type FuzzWorld } from "./fuzz-world.ts";
import { requestOf, type Finding } from "./fuzz.ts";

export type Reproduction = {
  readonly fault: string;
  /** Empty: the fault could not be reproduced. */ readonly requests: readonly FuzzRequest[];
};

/** Limit of the worlds that one reduction starts. */
const TRIES = 60;
/** How many of the preceding requests are tried, fewest first. */
const LOOK_BACK = [0, 3, 30, 300, 5_000];

export async function shrink({ chapter, number, fault }: Finding): Promise<Reproduction> {
  const kind = kindOf(fault);
  const happens = async (requests: readonly FuzzRequest[]) => kindOf((await replay(requests)) ?? "") === kind;
  const all = await inWorld((world) => Array.from({ length: number + 1 }, (_, at) => requestOf(world, chapter, at)));
  for (const back of LOOK_BACK) {
    const tail = all.slice(Math.max(0, number - back));
    if (await happens(tail)) return { fault, requests: await fewer(tail, happens) };
  }
  return { fault, requests: [] };
}

/** Leaves out halves, then quarters, and so on, while the fault is reproduced. The last request stays. */
async function fewer(
  requests: readonly FuzzRequest[],
  happens: (requests: readonly FuzzRequest[]) => Promise<boolean>,
): Promise<readonly FuzzRequest[]> {
  let kept = requests;
  let tries = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1 && kept.length > 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < kept.length - 1 && tries < TRIES; tries += 1) {
      const without = kept.toSpliced(from, Math.min(size, kept.length - 1 - from));
      if (await happens(without)) kept = without;
      else from += size;
    }
  }
  return kept;
}

/** "500": the compared part of a fault, because messages hold names and versions. */
function kindOf(fault: string): string {
  return fault.split(":")[0] ?? "";
}

/** The fault of the last response. */
async function replay(requests: readonly FuzzRequest[]): Promise<string | undefined> {
  return inWorld(async (world) => {
    let fault: string | undefined;
    for (const request of requests) fault = await faultOfOne(world, world.localised(request)).catch(describeThrown);
    return fault;
  });
}

async function faultOfOne(world: FuzzWorld, request: FuzzRequest): Promise<string | undefined> {
  const answer = await sendFuzzed(world.server, request, world.userOf(request.sender ?? "admin"));
  return faultOf(request, answer, () => {});
}

async function inWorld<T>(use: (world: FuzzWorld) => T | Promise<T>): Promise<T> {
  const world = await startFuzzWorld(1);
  await world.settled();
  try {
    return await use(world);
  } finally {
    await world.close();
  }
}
