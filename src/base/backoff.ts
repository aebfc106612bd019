/**
 * Exponential backoff; jitter varies the upper half of each delay, so that clients retry at different times and never at once.
 *
 * `random` is a parameter, so that tests are repeatable.
 */
export type BackoffPolicy = { readonly initialMs: number; readonly maxMs: number; readonly factor: number };

/** The delay before attempt number `failures + 1`; `failures` is the number of failed attempts (at least 1). */
export function backoffDelay(policy: BackoffPolicy, failures: number, random: () => number): number {
  const grown = policy.initialMs * policy.factor ** Math.min(Math.max(failures, 1) - 1, 64);
  const ceiling = Math.min(grown, policy.maxMs);
  return ceiling / 2 + (ceiling / 2) * random();
}

/** Varies a period by ±10 %, so that tasks that start together do not stay synchronised. */
export function withJitter(ms: number, random: () => number): number {
  return ms * (0.9 + 0.2 * random());
}
