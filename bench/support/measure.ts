/**
 * How benches measure: both sides take turns in every round, after a warm-up, and the median counts. Taking turns matters more than the
 * number of rounds: other load of the machine then affects both sides.
 */
export type Timed = { readonly measuredMs: number; readonly againstMs: number };

export async function compare(measured: () => Promise<void>, against: () => Promise<void>, rounds = 9): Promise<Timed> {
  for (let warmUp = 0; warmUp < 2; warmUp += 1) {
    await measured();
    await against();
  }
  const times: [number, number][] = [];
  for (let round = 0; round < rounds; round += 1) times.push([await time(measured), await time(against)]);
  return { measuredMs: median(times.map(([ms]) => ms)), againstMs: median(times.map(([, ms]) => ms)) };
}

async function time(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return ((sorted[middle] ?? Number.NaN) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? Number.NaN)) / 2;
}
