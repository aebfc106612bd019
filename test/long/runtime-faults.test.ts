/** Many storms: the story of test/stories/runtime-under-faults with seeds that nobody has looked at. */
import { expect, test } from "vitest";
import { weather } from "../stories/runtime-under-faults/world.ts";

/** As `npm run test:long` sets them; a storm takes a second or two, so a thousand rounds are fifty storms. */
const first = Number(process.env["LATTICE_SEED"] ?? 1_000);
const count = Math.ceil(Number(process.env["LATTICE_ROUNDS"] ?? 1_000) / 20);

for (let seed = first; seed < first + count; seed += 1) {
  const objects = seed % 10 === 0 ? 10_000 : 500;
  test(`${objects} objects converge in a storm, seed ${seed}`, { timeout: 300_000 }, async () => {
    const { wrong, leaked } = await weather({ seed, objects, rounds: 200, workers: 1 + (seed % 32) });
    expect({ wrong: wrong.slice(0, 10), leaked }, `seed ${seed}`).toEqual({ wrong: [], leaked: { timers: 0, watches: 0, keys: 0 } });
  });
}
