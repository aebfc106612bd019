/** Many storms: the story of test/stories/runtime-under-faults with seeds that nobody has looked at. */
import { expect, test } from "vitest";
import { weather } from "../stories/runtime-under-faults/world.ts";
import { rounds, seed as first } from "./settings.ts";

/** A storm takes a second or two: a thousand rounds are fifty storms. */
const storms = Math.ceil(rounds / 20);

for (let seed = first; seed < first + storms; seed += 1) {
  const objects = seed % 10 === 0 ? 10_000 : 500;
  test(`${objects} objects converge in a storm, seed ${seed}`, { timeout: 300_000 }, async () => {
    const { wrong, leaked } = await weather({ seed, objects, rounds: 200, workers: 1 + (seed % 32) });
    expect({ wrong: wrong.slice(0, 10), leaked }, `seed ${seed}`).toEqual({ wrong: [], leaked: { timers: 0, watches: 0, keys: 0 } });
  });
}
