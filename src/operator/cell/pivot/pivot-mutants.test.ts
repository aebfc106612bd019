/**
 * Every change of the operator's part of a pivot that would break it is found by the crash matrix: at points that are known to show it here, at points that are
 * chosen at random in `npm run test:long`.
 */
import { describe, expect, test } from "vitest";
import { seededRandom } from "#base";
import { roundsOf } from "../../../../test/builders/rounds.ts";
import { loadMatrixMutant, MATRIX_MUTANTS, pointsOfMutant, type MatrixMutant } from "./matrix-mutants.test-support.ts";
import { endedPivots, pointsOf, releases, type PivotCounts, type PivotPoint } from "./matrix-points.test-support.ts";
import { PivotMatrix, type MatrixParts } from "./pivot-matrix.test-support.ts";

/** A changed operator may never finish. */
const MOST_LOOKS = 600;
/** Of the points of the whole matrix, chosen at random; 0: those of the mutant. */
const RANDOM_POINTS = roundsOf({ sample: 0, long: 200 });

type Counts = { readonly forth: PivotCounts; readonly back: PivotCounts };

function chosen(mutant: MatrixMutant, { forth, back }: Counts): readonly PivotPoint[] {
  if (RANDOM_POINTS === 0) return pointsOfMutant(mutant, forth);
  const random = seededRandom(16);
  const all = [...pointsOf("to-child", forth), ...pointsOf("to-parent", back), ...endedPivots(forth), ...releases(back)];
  const one = () => all[Math.floor(random() * all.length)];
  return Array.from({ length: RANDOM_POINTS }, one).filter((point) => point !== undefined);
}

/** What the matrix finds; empty: the mutant is not caught. */
async function findings(mutant: MatrixMutant, parts: Partial<MatrixParts>): Promise<readonly string[]> {
  const matrix = await PivotMatrix.open({ parts, mostLooks: MOST_LOOKS });
  try {
    const forth = await matrix.count("to-child");
    if (matrix.wrong.length > 0) return matrix.wrong;
    const back = await matrix.count("to-parent");
    if (matrix.wrong.length > 0) return matrix.wrong;
    for (const point of chosen(mutant, { forth, back })) {
      await matrix.disturb(point);
      if (matrix.wrong.length > 0) return matrix.wrong;
    }
    return [];
  } finally {
    await matrix.close();
  }
}

describe("a changed operator is caught", () => {
  test.for(MATRIX_MUTANTS)("$name", { timeout: 600_000 }, async (mutant) => {
    expect(await findings(mutant, await loadMatrixMutant(mutant))).not.toEqual([]);
  });
});
