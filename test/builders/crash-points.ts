/**
 * Which points of a crash matrix a run visits: a seeded tenth in `npm test`, all of them in `npm run test:long`, and with LATTICE_CRASH_POINT, which has
 * the text that a failure prints, one of them. LATTICE_CRASH_SHARD="2/4" leaves every fourth of the chosen points, from the second on.
 */
import { seededRandom } from "#base";
import { roundsOf } from "./rounds.ts";

const SAMPLE = 10;

/** `sample`: of a hundred points, in `npm test`. */
export function chosenPoints<T>(points: readonly T[], describe: (point: T) => string, seed: number, sample = SAMPLE): readonly T[] {
  const wanted = process.env["LATTICE_CRASH_POINT"];
  if (wanted !== undefined && wanted !== "") return points.filter((point) => describe(point) === wanted);
  const random = seededRandom(seed);
  const percent = roundsOf({ sample, long: 100 });
  const { shard, shards } = shardOf(process.env["LATTICE_CRASH_SHARD"]);
  return points.filter(() => random() * 100 < percent).filter((_, at) => at % shards === shard);
}

function shardOf(text: string | undefined): { readonly shard: number; readonly shards: number } {
  if (text === undefined || text === "") return { shard: 0, shards: 1 };
  const [, shard, shards] = /^([1-9][0-9]{0,3})\/([1-9][0-9]{0,3})$/.exec(text) ?? [];
  if (shard === undefined || shards === undefined || Number(shard) > Number(shards))
    throw new Error(`LATTICE_CRASH_SHARD must be like 2/4, not ${text}`);
  return { shard: Number(shard) - 1, shards: Number(shards) };
}
