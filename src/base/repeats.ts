/** Duplicates in a list, found in one pass: lists come from users, and `indexOf` for each of 100,000 items takes minutes. */

/** Returns whether an equal item is before a position in the list. */
export function repeats<T>(items: readonly T[]): (item: T, at: number) => boolean {
  const first = new Map<T, number>();
  for (const [at, item] of items.entries()) if (!first.has(item)) first.set(item, at);
  return (item, at) => (first.get(item) ?? at) < at;
}
