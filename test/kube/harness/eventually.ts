/** Polls until a condition holds that a controller establishes later. After the time limit the error names the condition. */
import { setTimeout as delay } from "node:timers/promises";

export type PollOptions = { readonly withinMs?: number; readonly everyMs?: number };

/** The first result of `look` that is not undefined. `look` may throw (an expectation that does not hold yet): the last error is the cause. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { withinMs = 30_000, everyMs = 100 }: PollOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await attempt(look);
    if (seen.value !== undefined) return seen.value;
    if (performance.now() >= deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`, { cause: seen.problem });
    await delay(everyMs);
  }
}

async function attempt<T>(look: () => Promise<T | undefined>): Promise<{ value?: T | undefined; problem?: unknown }> {
  try {
    return { value: await look() };
  } catch (problem) {
    return { problem };
  }
}
