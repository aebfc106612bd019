/**
 * Preloaded (`node --import`) into a process under attack: measures how long its event loop was held, and its peak memory.
 *
 * A stall is the time between two timer ticks in which the main thread used the processor. Wall-clock time alone would also count the
 * time in which the kernel ran other processes, and a busy machine would fail the test for no fault of the program.
 */
import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

export type Measurement = { readonly longestStallMs: number; readonly peakMemoryMb: number };

const TICK_MS = 5;
const threadCpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

let longestStallMs = 0;
let wall = performance.now();
let cpu = threadCpuMs();

function tick(): void {
  const [wallNow, cpuNow] = [performance.now(), threadCpuMs()];
  longestStallMs = Math.max(longestStallMs, Math.min(wallNow - wall - TICK_MS, cpuNow - cpu));
  [wall, cpu] = [wallNow, cpuNow];
}

setInterval(tick, TICK_MS).unref();

function measure(): Measurement {
  return { longestStallMs: Math.round(longestStallMs), peakMemoryMb: Math.round(process.resourceUsage().maxRSS / 1_024) };
}

process.on("message", (message) => {
  tick();
  if (message === "reset") longestStallMs = 0;
  process.send?.(measure());
});

// a command that ends by itself can no longer receive a message
const file = process.env["LATTICE_MEASURE_FILE"];
if (file !== undefined) process.on("exit", () => writeFileSync(file, JSON.stringify(measure())));
process.channel?.unref();
