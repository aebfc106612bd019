/**
 * Sends hostile requests to a server with all features, over its sockets and in process, and records faults: an exception, a hang, a
 * 500 that a real server would not send, a logged error, a changed prototype, a memory leak.
 *
 * A run has chapters. Each starts with a restored world and has its own seed, and each request depends on that seed and its number alone:
 * a finding can be replayed without the earlier chapters.
 */
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describeThrown, seededRandom } from "#base";
import { sendFuzzed, type FuzzResponse } from "./fuzz-in-process.ts";
import { faultOf } from "./fuzz-faults.ts";
import { changedPrototypes } from "./fuzz-prototypes.ts";
import { FuzzHttp2, sendFrames } from "./fuzz-http2.ts";
import { noise } from "./fuzz-noise.ts";
import { fuzzRequest, type FuzzRequest } from "./fuzz-requests.ts";
import { FuzzSocket, wireText } from "./fuzz-socket.ts";
import { baselineOf, tidy } from "./fuzz-tidy.ts";
import { chance } from "./fuzz-values.ts";
import { startWatchdog } from "./fuzz-watchdog.ts";
import { FuzzWitness, WITNESSED } from "./fuzz-witness.ts";
import { startFuzzWorld, type FuzzWorld } from "./fuzz-world.ts";

export type FuzzOptions = {
  readonly seed: number;
  readonly requests: number;
  /** Requests of a chapter. */
  readonly chapter?: number;
  readonly onChapter?: (report: FuzzReport) => void;
};

/** A request with a faulty response. `chapter` and `number` reproduce it. */
export type Finding = {
  readonly chapter: number;
  readonly number: number;
  readonly fault: string;
  readonly request: FuzzRequest | undefined;
};

export type FuzzReport = {
  readonly requests: number;
  readonly byStatus: ReadonlyMap<number, number>;
  /** Counts of 500s that a real server would have sent too, by reason. */
  readonly known500: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
  readonly slowest: { readonly ms: number; readonly request: string };
  /** Heap in bytes after each chapter, in a restored world and after garbage collection. */
  readonly heaps: readonly number[];
  /** Acknowledged writes of the well-behaved client; all of them were found. */
  readonly acknowledged: number;
};

const CHAPTER = 5_000;
const LANES = 12;
/** Limit for one response: longer than any time limit of the world on its fast clock, also on a busy machine. */
export const HANG_MS = 60_000;
/** After this time without a turn of the event loop the watchdog ends the process. */
const CIRCLE_MS = 60_000;
const MAX_FINDINGS = 40;
const HONEST_MS = 5;

export async function fuzz({ seed, requests, chapter = CHAPTER, onChapter = () => {} }: FuzzOptions): Promise<FuzzReport> {
  const world = await startFuzzWorld(seed);
  const run = new FuzzRun(world);
  for (const witness of run.witnesses) await witness.start();
  await world.settled();
  const baseline = await baselineOf(world);
  for (let begun = 0; begun < requests && run.findings.length < MAX_FINDINGS; begun += chapter) {
    const chapterSeed = seed + begun / chapter;
    await run.chapter(chapterSeed, Math.min(chapter, requests - begun));
    const faults = (await Promise.all(run.witnesses.map((witness) => witness.differences()))).flat();
    for (const left of await tidy(world, baseline)) faults.push(`not tidy: ${left}`);
    for (const fault of faults) run.note({ chapter: chapterSeed, number: -1, fault, request: undefined });
    run.heaps.push(heapAfterCollection());
    onChapter(run.report());
  }
  await run.close();
  await world.close();
  return run.report();
}

/** Generates one request of a chapter again. */
export function requestOf(world: Pick<FuzzWorld, "types">, chapter: number, number: number): FuzzRequest {
  return fuzzRequest(seededRandom(chapter * 1_000_003 + number * 7_919), world.types);
}

type Wire = { readonly socket: FuzzSocket; readonly http2: FuzzHttp2 };

class FuzzRun {
  readonly #world: FuzzWorld;
  readonly #byStatus = new Map<number, number>();
  readonly #known = new Map<string, number>();
  readonly #watchdog = startWatchdog(LANES, CIRCLE_MS);
  readonly witnesses: readonly FuzzWitness[];
  readonly findings: Finding[] = [];
  readonly heaps: number[] = [];
  #requests = 0;
  #slowest = { ms: 0, request: "" };

  constructor(world: FuzzWorld) {
    this.#world = world;
    this.witnesses = WITNESSED.map((kind) => new FuzzWitness(world.server, kind));
  }

  async close(): Promise<void> {
    for (const witness of this.witnesses) await witness.close();
    await this.#watchdog.close();
  }

  report(): FuzzReport {
    const { findings, heaps } = this;
    const acknowledged = this.witnesses.reduce((sum, { writes }) => sum + writes, 0);
    const counted = { requests: this.#requests, byStatus: this.#byStatus, known500: this.#known, acknowledged };
    return { ...counted, findings, slowest: this.#slowest, heaps };
  }

  note(finding: Finding): void {
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
  }

  /** Several requests run concurrently, so that some wait for a webhook while others do not. */
  async chapter(chapter: number, count: number): Promise<void> {
    let next = 0;
    const lane = async (_: unknown, at: number) => {
      const wire = { socket: new FuzzSocket(this.#world.port), http2: new FuzzHttp2(this.#world.securePort) };
      for (let number = next++; number < count; number = next++) {
        this.#watchdog.begin(at, chapter, number);
        await this.#one({ chapter, number, ...wire });
      }
      wire.socket.close();
      wire.http2.close();
    };
    const honest = async (witness: FuzzWitness) => {
      for (const random = seededRandom(chapter); next < count; await delay(HONEST_MS)) await witness.write(random);
    };
    await Promise.all([...this.witnesses.map(honest), ...Array.from({ length: LANES }, lane)]);
  }

  async #one({ chapter, number, ...wire }: { readonly chapter: number; readonly number: number } & Wire): Promise<void> {
    const random = seededRandom(chapter * 31 + number * 104_729);
    const request = requestOf(this.#world, chapter, number);
    const start = performance.now();
    const fault = await within(HANG_MS, this.#send(request, wire, random)).catch(describeThrown);
    this.#requests += 1;
    const ms = performance.now() - start;
    if (ms > this.#slowest.ms)
      this.#slowest = { ms, request: `chapter ${chapter}, number ${number}: ${request.method} ${request.url.slice(0, 200)}` };
    if (fault !== undefined) this.note({ chapter, number, fault, request });
    for (const logged of this.#world.errors()) this.note({ chapter, number, fault: `logged: ${logged}`, request });
    const changed = changedPrototypes();
    if (changed !== undefined) throw new Error(`chapter ${chapter}, number ${number}: ${changed}\n${JSON.stringify(request)}`);
  }

  async #send(given: FuzzRequest, wire: Wire, random: () => number): Promise<string | undefined> {
    const request = this.#world.localised(given);
    if (chance(random, 0.02)) return this.#sendNoise(request, wire.socket, random);
    if (chance(random, 0.005)) {
      await sendFrames(this.#world.securePort, random);
      return undefined;
    }
    const answer = chance(random, 0.5) ? await this.#overSocket(request, wire, chance(random, 0.25)) : await this.#inProcess(request);
    if (answer.status !== undefined) this.#byStatus.set(answer.status, (this.#byStatus.get(answer.status) ?? 0) + 1);
    return faultOf(request, answer, (why) => this.#known.set(why, (this.#known.get(why) ?? 0) + 1));
  }

  #inProcess(request: FuzzRequest): Promise<FuzzResponse> {
    return sendFuzzed(this.#world.server, request, this.#world.userOf(request.sender ?? "admin"));
  }

  async #overSocket(request: FuzzRequest, { socket, http2 }: Wire, newer: boolean): Promise<FuzzResponse> {
    const token = this.#world.tokenOf(request.sender ?? "admin");
    const answer = newer ? await http2.send(request, token) : undefined;
    return answer ?? socket.send(wireText(request, token), { method: request.method });
  }

  /** Malformed HTTP: any response is acceptable, also none. */
  async #sendNoise(request: FuzzRequest, socket: FuzzSocket, random: () => number): Promise<string | undefined> {
    const bytes = noise(random, wireText(request, "admin-token"));
    const answer = await socket.send(bytes, { method: request.method, alone: true });
    return answer.status === undefined || answer.status < 500 ? undefined : faultOf(request, answer, () => {});
  }
}

async function within(ms: number, answer: Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer after ${ms} ms`), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

export function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
