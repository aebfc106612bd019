/**
 * Exponential backoff with full jitter above half: waits differ between clients, and none returns at once.
 *
 * `random` comes in, so that tests are repeatable and a thousand clusters do not come back in step.
 */
export type BackoffPolicy = { readonly initialMs: number; readonly maxMs: number; readonly factor: number };

/** The wait before try number `failures + 1`; `failures` is how many there were so far (at least 1). */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: () => number): number {
  const grown = policy.initialMs * policy.factor ** Math.min(Math.max(failures, 1) - 1, 64);
  const ceiling = Math.min(grown, policy.maxMs);
  return ceiling / 2 + (ceiling / 2) * random();
}

/** Spreads a period by ±10 %, so that what started together does not stay together. */
export function withJitter(ms: number, random: () => number): number {
  return ms * (0.9 + 0.2 * random());
}
