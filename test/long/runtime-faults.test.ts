/** The story of test/stories/runtime-under-faults with many more seeds. */
import { expect, test } from "vitest";
import { runUnderFaults } from "../stories/runtime-under-faults/world.ts";
import { rounds, seed as first } from "./settings.ts";

/** A run takes seconds: a thousand rounds are fifty runs. */
const runs = Math.ceil(rounds / 20);

for (let seed = first; seed < first + runs; seed += 1) {
  const objects = seed % 10 === 0 ? 10_000 : 500;
  test(`${objects} objects converge under faults, seed ${seed}`, { timeout: 300_000 }, async () => {
    const { wrong, leaked } = await runUnderFaults({ seed, objects, rounds: 200, workers: 1 + (seed % 32) });
    expect({ wrong: wrong.slice(0, 10), leaked }, `seed ${seed}`).toEqual({ wrong: [], leaked: { timers: 0, watches: 0, keys: 0 } });
  });
}
