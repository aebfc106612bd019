/** Many storms: the story of test/stories/runtime-under-faults with seeds that nobody has looked at. SEED and SEEDS choose others. */
import { expect, test } from "vitest";
import { weather } from "../stories/runtime-under-faults/world.ts";

const first = Number(process.env["SEED"] ?? 1_000);
const count = Number(process.env["SEEDS"] ?? 50);

for (let seed = first; seed < first + count; seed += 1) {
  const objects = seed % 10 === 0 ? 10_000 : 500;
  test(`${objects} objects converge in a storm, seed ${seed}`, { timeout: 300_000 }, async () => {
    const { wrong, leaked } = await weather({ seed, objects, rounds: 200, workers: 1 + (seed % 32) });
    expect({ wrong: wrong.slice(0, 10), leaked }, `seed ${seed}`).toEqual({ wrong: [], leaked: { timers: 0, watches: 0, keys: 0 } });
  });
}
