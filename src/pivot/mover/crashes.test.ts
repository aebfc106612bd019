/** A move that is killed at a write and run again. Here at a seeded part of the writes; test/long kills at every one. */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "#base";
import { crashRounds, type Kill } from "../../../test/builders/move-crashes.ts";
import { startMoveWorld } from "../../../test/builders/move-world.ts";

test("a move that is killed at any write is finished by the next run, with one owner at all times", { timeout: 300_000 }, async () => {
  const world = await startMoveWorld(1);
  onTestFinished(() => world.close());
  const random = seededRandom(16);
  const choose = (writes: number): readonly Kill[] => {
    const all = Array.from({ length: writes }, (_, at) => (["before", "after"] as const).map((when) => ({ write: at + 1, when }))).flat();
    return all.filter(() => random() < 0.1);
  };
  const report = await crashRounds(world, choose);
  expect(report.wrong).toEqual([]);
  expect(report.kills).toBeGreaterThan(10);
});
