/** Waits for what a controller will do in its own time. Looks again and again; a time limit is a failure that says what was awaited. */
import { setTimeout as delay } from "node:timers/promises";

export type Patience = { readonly withinMs?: number; readonly everyMs?: number };

/** The first answer of `look` that is not undefined. `look` may throw (an expectation that does not hold yet): the last error is shown. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { withinMs = 30_000, everyMs = 100 }: Patience = {},
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
