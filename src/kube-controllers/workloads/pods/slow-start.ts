/**
 * Runs the same request `count` times: once, then two at a time, four, eight. The first failure ends it after its batch, so that a quota
 * that rejects a thousand Pods gets a few requests and not a thousand.
 */
import type { Result } from "#base";

export type SlowStart<E> = {
  readonly succeeded: number;
  /** Tried or not tried, and not there. */ readonly missing: number;
  readonly error: E | undefined;
};

/** The largest batch. */
const LARGEST_BATCH = 500;

export async function slowStart<E>(count: number, attempt: (index: number) => Promise<Result<unknown, E>>): Promise<SlowStart<E>> {
  let succeeded = 0;
  for (let at = 0, size = 1; at < count; at += size, size = Math.min(size * 2, LARGEST_BATCH)) {
    const batch = Array.from({ length: Math.min(size, count - at) }, (_, index) => attempt(at + index));
    const answers = await Promise.all(batch);
    const failed = answers.filter((answer) => !answer.ok);
    succeeded += answers.length - failed.length;
    const [first] = failed;
    if (first !== undefined) return { succeeded, missing: count - succeeded, error: first.error };
  }
  return { succeeded, missing: 0, error: undefined };
}
