/**
 * Preloaded (`node --import`) into a process under attack: measures how long its event loop was held, and its peak memory.
 *
 * A stall is the time between two timer ticks in which the main thread used the processor. Wall-clock time alone would also count the
 * time in which the kernel ran other processes, and a busy machine would fail the test for no fault of the program. Processors of shared machines
 * also run at half their speed for seconds or minutes, so a fixed piece of work is timed: limits are for the speed at which it takes 12 ms, and the
 * slowest of its times counts, because a stall may fall into such a time.
 */
import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

export type Measurement = {
  readonly longestStallMs: number;
  readonly peakMemoryMb: number;
  /** 1: as fast as the machine that limits are for, or faster; 2: half as fast. */
  readonly slowness: number;
};

const REFERENCE_MS = 12;
const MOST_SLOWNESS = 2;
const SAMPLES = 7;
const REFERENCE_TEXT = JSON.stringify(Array.from({ length: 5_000 }, (_, at) => ({ name: `field-${at}`, value: `value-${at}`, at })));

const TICK_MS = 5;
const threadCpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

let longestStallMs = 0;
let slowest = 0;
let wall = performance.now();
let cpu = threadCpuMs();

function tick(): void {
  const [wallNow, cpuNow] = [performance.now(), threadCpuMs()];
  longestStallMs = Math.max(longestStallMs, Math.min(wallNow - wall - TICK_MS, cpuNow - cpu));
  [wall, cpu] = [wallNow, cpuNow];
}

setInterval(tick, TICK_MS).unref();

function slowness(): number {
  const times = Array.from({ length: SAMPLES }, () => {
    const before = threadCpuMs();
    for (let pass = 0; pass < 4; pass += 1) JSON.stringify(JSON.parse(REFERENCE_TEXT));
    return threadCpuMs() - before;
  });
  slowest = Math.max(slowest, ...times);
  return Math.min(MOST_SLOWNESS, Math.max(1, slowest / REFERENCE_MS));
}

function measure(): Measurement {
  const measured = { longestStallMs: Math.round(longestStallMs), peakMemoryMb: Math.round(process.resourceUsage().maxRSS / 1_024) };
  return { ...measured, slowness: slowness() };
}

process.on("message", (message) => {
  tick();
  if (message === "reset") longestStallMs = 0;
  process.send?.(measure());
  // the timed work is no stall of the program
  [wall, cpu] = [performance.now(), threadCpuMs()];
});

// a command that ends by itself can no longer receive a message
const file = process.env["LATTICE_MEASURE_FILE"];
if (file !== undefined) process.on("exit", () => writeFileSync(file, JSON.stringify(measure())));
process.channel?.unref();
