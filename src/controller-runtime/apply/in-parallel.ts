/** Runs work on each item, at most `limit` at a time; results keep the order of the items. */
export async function inParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results = new Map<number, R>();
  const entries = items.entries();
  const lane = async () => {
    // the iterator is shared: each lane takes the next item
    for (const [index, item] of entries) results.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return [...results].toSorted(([a], [b]) => a - b).map(([, result]) => result);
}
