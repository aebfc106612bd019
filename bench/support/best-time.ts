/** The best of several rounds: on a shared machine all that is above it is somebody else's work. */
export function bestMs(rounds: number, round: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < rounds; at += 1) best = Math.min(best, round());
  return best;
}

/** Milliseconds that `work` takes. */
export function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
