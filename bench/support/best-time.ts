/** The best of several rounds, in CPU time of this thread: on a shared machine the rest is the work of other processes. */
export function bestMs(rounds: number, round: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < rounds; at += 1) best = Math.min(best, round());
  return best;
}

/** Milliseconds of processor time that `work` takes. The clock ticks every few milliseconds: give it work for a hundred and more. */
export function timed(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
