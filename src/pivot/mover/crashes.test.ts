/** A move that is killed at a write and run again: at a seeded part of its writes here, before and after every one of them in `npm run test:long`. */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "#base";
import { startMoveWorld } from "../../../test/builders/move-world.ts";
import { roundsOf } from "../../../test/builders/rounds.ts";
import { crashRounds } from "./move-crashes.test-support.ts";
import { type Kill } from "../../../test/builders/mortal-process.ts";

const PERCENT = roundsOf({ sample: 10, long: 100 });

test("a move that is killed at any write is finished by the next run, with one owner at all times", { timeout: 1_800_000 }, async () => {
  const world = await startMoveWorld(1);
  onTestFinished(() => world.close());
  const random = seededRandom(16);
  const choose = (writes: number): readonly Kill[] => {
    const all = Array.from({ length: writes }, (_, at) => (["before", "after"] as const).map((when) => ({ write: at + 1, when })));
    return all.flat().filter(() => random() * 100 < PERCENT);
  };
  const report = await crashRounds(world, choose);
  expect(report.wrong).toEqual([]);
  expect(report.kills).toBeGreaterThan(PERCENT === 100 ? 2 * report.writes - 1 : report.writes / 10);
});
