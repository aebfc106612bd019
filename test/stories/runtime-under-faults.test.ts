/**
 * The runtime under faults: disconnects, 410, 429, 5xx, conflicts, lost answers, stalled watches, events twice, late and out of
 * order. Whatever the weather was, informers end up with exactly the server's state, and no write is lost.
 *
 * A failure names its seed; `npm run test:long` tries many.
 */
import { expect, test } from "vitest";
import { weather, type WeatherOptions } from "./runtime-under-faults/world.ts";

const REQUEST_FAULTS = ["answer 409", "answer 429", "answer 500", "answer 503", "delay", "lost-answer", "unreachable"];
const FAULTS = [...REQUEST_FAULTS, "break", "duplicate", "end", "reorder", "rewind", "split"];
/** Only a list in several pages can meet it. */
const PAGE_FAULT = "answer 410";

async function expectGoodEnd(options: WeatherOptions, faults: readonly string[]): Promise<void> {
  const socketsBefore = openSockets();
  const report = await weather(options);
  const seed = `seed ${options.seed}, ${report.wrong.length} things wrong`;
  expect(report.wrong.slice(0, 10), seed).toEqual([]);
  expect(report.leaked, seed).toEqual({ timers: 0, watches: 0, keys: 0 });
  expect(
    faults.filter((fault) => report.faults[fault] === undefined),
    `${seed}: faults that never happened`,
  ).toEqual([]);
  expect(report.mostAtOnce, seed).toBe(options.workers);
  expect(openSockets(), seed).toBe(socketsBefore);
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name)).length;
}

for (const seed of [1, 2]) {
  test(`1,000 objects converge in a storm, seed ${seed}`, () => expectGoodEnd({ seed, objects: 1_000, rounds: 120, workers: 8 }, FAULTS));
}

test("10,000 objects converge in a storm, seed 3", { timeout: 120_000 }, () =>
  expectGoodEnd({ seed: 3, objects: 10_000, rounds: 120, workers: 16 }, [...FAULTS, PAGE_FAULT]),
);
