/** Runs work on many items, a bounded number at a time. The first failure ends it: work that has begun ends, no more begins. */
import { ok, type Result } from "#base";

export async function inParallel<T, R, E>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<Result<R, E>>,
): Promise<Result<readonly R[], E>> {
  const results: R[] = [];
  let next = 0;
  let failure: Result<never, E> | undefined;
  const worker = async () => {
    while (next < items.length && failure === undefined) {
      const at = next;
      next += 1;
      const done = await work(items[at] as T);
      if (done.ok) results[at] = done.value;
      else failure ??= done;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return failure ?? ok(results);
}
