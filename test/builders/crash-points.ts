/**
 * Which points of a crash matrix a run visits: a seeded tenth in `npm test`, all of them in `npm run test:long`, and with LATTICE_CRASH_POINT, which has
 * the text that a failure prints, one of them.
 */
import { seededRandom } from "#base";
import { roundsOf } from "./rounds.ts";

const PERCENT = roundsOf({ sample: 10, long: 100 });

export function chosenPoints<T>(points: readonly T[], describe: (point: T) => string, seed: number): readonly T[] {
  const wanted = process.env["LATTICE_CRASH_POINT"];
  if (wanted !== undefined && wanted !== "") return points.filter((point) => describe(point) === wanted);
  const random = seededRandom(seed);
  return points.filter(() => random() * 100 < PERCENT);
}
