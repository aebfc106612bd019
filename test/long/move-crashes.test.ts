/** The crashes of src/pivot/mover/crashes.test.ts at every write of a move, before and after each. */
import { expect, test } from "vitest";
import { crashRounds } from "../builders/move-crashes.ts";
import { startMoveWorld } from "../builders/move-world.ts";

test("a move that is killed before or after each of its writes is finished by the next run, with one owner", { timeout: 1_800_000 }, async () => {
  const world = await startMoveWorld(1);
  const report = await crashRounds(world, (writes) =>
    Array.from({ length: writes }, (_, at) => (["before", "after"] as const).map((when) => ({ write: at + 1, when }))).flat(),
  );
  await world.close();
  console.log(JSON.stringify(report));
  expect(report.wrong).toEqual([]);
  expect(report.kills).toBe(2 * report.writes);
});
