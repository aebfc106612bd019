/** How many keys a work queue processes in a second, compared with a bare array, and how many delays, compared with sorting them. */
import { MetricsRegistry, systemClock, type Clock } from "#base";
import { WorkQueue } from "#controller-runtime";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { compare } from "./support/measure.ts";

const KEYS = 50_000;

export async function run(): Promise<readonly BenchResult[]> {
  const keys = Array.from({ length: KEYS }, (_, at) => `team-${at % 50}/web-${at}`);
  return [await passing(keys), await delayed(keys)];
}

async function passing(keys: readonly string[]): Promise<BenchResult> {
  const stop = new AbortController();
  const through = async () => {
    const queue = newQueue(systemClock);
    for (const key of keys) queue.add(key);
    for (let left = keys.length; left > 0; left -= 1) queue.done((await queue.take(stop.signal)) ?? "");
    queue.close();
  };
  const bare = async () => {
    const waiting: string[] = [];
    const known = new Set<string>();
    for (const key of keys) {
      if (!known.has(key)) waiting.push(key);
      known.add(key);
    }
    for (let at = 0; at < waiting.length; at += 1) known.delete((await Promise.resolve(waiting[at])) ?? "");
  };
  const { measuredMs, againstMs } = await compare(through, bare);
  const note = `speed, more is better; add, take and done of ${KEYS} keys, metrics on`;
  return { name: "keys", value: perSecond(measuredMs), unit: "keys/s", ratio: againstMs / measuredMs, against: "an array and a Set", note };
}

async function delayed(keys: readonly string[]): Promise<BenchResult> {
  const delays = keys.map((_, at) => 1 + ((at * 7_919) % 60_000));
  const later = async () => {
    const clock = new HandClock();
    const queue = newQueue(clock);
    for (const [at, key] of keys.entries()) queue.addAfter(key, delays[at] ?? 1);
    clock.jump(60_001);
    if (queue.depth !== keys.length) throw new Error(`${queue.depth} of ${keys.length} keys fell due`);
    queue.close();
  };
  const bare = async () => {
    const due = keys.map((key, at) => ({ key, due: delays[at] ?? 1 })).toSorted((a, b) => a.due - b.due);
    const ready = new Set<string>();
    for (const { key } of due) ready.add(key);
  };
  const { measuredMs, againstMs } = await compare(later, bare);
  const note = `speed, more is better; addAfter of ${KEYS} keys until all are due, one timer at a time`;
  return {
    name: "delays",
    value: perSecond(measuredMs),
    unit: "keys/s",
    ratio: againstMs / measuredMs,
    against: "one sort and a Set",
    note,
  };
}

function newQueue(clock: Clock): WorkQueue {
  return new WorkQueue({ name: "bench", clock, random: () => 0.5, metrics: new MetricsRegistry() });
}

function perSecond(ms: number): number {
  return KEYS / (ms / 1_000);
}

/** A clock for one timer, moved by hand: the bench measures the queue, not setTimeout. */
class HandClock implements Clock {
  #now = 0;
  #callback: (() => void) | undefined;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(_ms: number, callback: () => void): () => void {
    this.#callback = callback;
    return () => (this.#callback = undefined);
  }

  jump(ms: number): void {
    this.#now += ms;
    this.#callback?.();
  }
}
