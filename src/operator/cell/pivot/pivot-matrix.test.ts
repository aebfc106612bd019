/**
 * The crash matrix of pivot and unpivot: killed before and after every write of the cell and of the agent, cut off at every message, and both at once. A
 * seeded tenth of it here, all of it in `npm run test:long`; LATTICE_CRASH_POINT="to-child: connection cut at 7" runs one point.
 */
import { expect, test } from "vitest";
import { chosenPoints } from "../../../../test/builders/crash-points.ts";
import { describePoint, PivotMatrix, pointsOf, type PivotPoint } from "./pivot-matrix.test-support.ts";

const SEED = 16;
/** Both clusters remember every request that was made. */
const POINTS_PER_WORLD = 60;

/** Objects move forth, then back, so that both directions take turns; a direction with more points repeats an undisturbed one of the other. */
function inTurns(
  forth: readonly PivotPoint[],
  back: readonly PivotPoint[],
): readonly (readonly [PivotPoint | undefined, PivotPoint | undefined])[] {
  return Array.from({ length: Math.max(forth.length, back.length) }, (_, at) => [forth[at], back[at]]);
}

test("one owner and all objects, whatever dies or breaks at any point of a pivot and of its way back", { timeout: 7_200_000 }, async () => {
  let matrix = await PivotMatrix.open();
  try {
    const forth = pointsOf("to-child", await matrix.count("to-child"));
    const back = pointsOf("to-parent", await matrix.count("to-parent"));
    const chosen = inTurns(chosenPoints(forth, describePoint, SEED), chosenPoints(back, describePoint, SEED + 1));
    let [visited, reached] = [0, 0];
    for (const [at, turn] of chosen.entries()) {
      if (at % POINTS_PER_WORLD === POINTS_PER_WORLD - 1) {
        await matrix.world.close();
        matrix = await PivotMatrix.open();
      }
      for (const [side, point] of turn.entries()) {
        if (point === undefined) await matrix.count(side === 0 ? "to-child" : "to-parent");
        else if (await matrix.disturb(point)) reached += 1;
        if (point !== undefined) visited += 1;
        expect(matrix.wrong, point === undefined ? "undisturbed" : `replay with LATTICE_CRASH_POINT="${describePoint(point)}"`).toEqual([]);
      }
    }
    // the number of writes and messages differs a little from run to run
    expect(reached / visited).toBeGreaterThan(0.9);
  } finally {
    await matrix.world.close();
  }
});
