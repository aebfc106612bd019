/** Sets of completion indexes as Jobs write them: "1,3-5,7". Always sorted, never overlapping. */
export type Interval = { readonly first: number; readonly last: number };
export type Indexes = readonly Interval[];

export const NO_INDEXES: Indexes = [];

/** Indexes at or above `completions` are dropped: the Job was scaled down. */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const intervals = (text ?? "").split(",").flatMap((part): Interval[] => {
    const dash = part.indexOf("-");
    const first = parseIndex(dash < 0 ? part : part.slice(0, dash));
    const end = dash < 0 ? first : parseIndex(part.slice(dash + 1));
    if (first === undefined || end === undefined) return [];
    const last = Math.min(end, completions - 1);
    return first <= last ? [{ first, last }] : [];
  });
  return union(intervals, NO_INDEXES);
}

/** Ten digits are enough for 2,147,483,646, the highest index of a Job. */
export function parseIndex(text: string): number | undefined {
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : undefined;
}

export function withIndexes(indexes: Indexes, more: Iterable<number>): Indexes {
  return union(
    indexes,
    [...more].map((index) => ({ first: index, last: index })),
  );
}

export function union(a: Indexes, b: Indexes): Indexes {
  const merged: Interval[] = [];
  for (const next of [...a, ...b].toSorted((x, y) => x.first - y.first)) {
    const last = merged.at(-1);
    if (last === undefined || next.first > last.last + 1) merged.push(next);
    else if (next.last > last.last) merged[merged.length - 1] = { first: last.first, last: next.last };
  }
  return merged;
}

export function countIndexes(indexes: Indexes): number {
  return indexes.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

export function hasIndex(indexes: Indexes, index: number): boolean {
  let [low, high] = [0, indexes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((indexes[middle]?.last ?? index) < index) low = middle + 1;
    else high = middle;
  }
  return (indexes[low]?.first ?? Infinity) <= index;
}

/** Two consecutive indexes are "3,4", more are "3-5". */
export function formatIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => (first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
    .join(",");
}

/** The lowest indexes below `completions` that are not in the set. */
export function firstMissing(indexes: Indexes, count: number, completions: number): readonly number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && missing.length < count; candidate += 1) missing.push(candidate);
    if (missing.length >= count) break;
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}

export function countCommon(a: Indexes, b: Indexes): number {
  let count = 0;
  for (let [inA, inB] = [0, 0]; inA < a.length && inB < b.length;) {
    const [one, other] = [a[inA] ?? NONE, b[inB] ?? NONE];
    count += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1);
    if (one.last < other.last) inA += 1;
    else inB += 1;
  }
  return count;
}

const NONE: Interval = { first: 0, last: -1 };
