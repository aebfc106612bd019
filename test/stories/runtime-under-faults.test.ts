/**
 * The controller runtime under faults: disconnects, 410, 429, 5xx, conflicts, lost responses, stalled watches, duplicate, late and reordered
 * events. In the end informers have exactly the state of the server, and no write is lost.
 *
 * A failure names its seed; `npm run test:long` tries many.
 */
import { expect, test } from "vitest";
import { runUnderFaults, type RunOptions } from "./runtime-under-faults/world.ts";

const REQUEST_FAULTS = ["answer 409", "answer 429", "answer 500", "answer 503", "delay", "lost-answer", "unreachable"];
const FAULTS = [...REQUEST_FAULTS, "break", "duplicate", "end", "reorder", "rewind", "split"];
/** This fault needs a list in several pages. */
const PAGE_FAULT = "answer 410";

async function expectConvergence(options: RunOptions, faults: readonly string[]): Promise<void> {
  const socketsBefore = openSockets();
  const report = await runUnderFaults(options);
  const seed = `seed ${options.seed}, ${report.wrong.length} errors`;
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
  test(`100 objects converge under faults, seed ${seed}`, { timeout: 60_000 }, () =>
    expectConvergence({ seed, objects: 100, rounds: 45, workers: 8 }, FAULTS),
  );
}

test("600 objects, listed in pages, converge under faults, seed 3", { timeout: 120_000 }, () =>
  expectConvergence({ seed: 3, objects: 600, rounds: 45, workers: 16 }, [...FAULTS, PAGE_FAULT]),
);
