/** Sets of completion indexes as Jobs write them: "1,3-5,7". Always sorted, never overlapping. */
export type Interval = { readonly first: number; readonly last: number };
export type Indexes = readonly Interval[];

export const NO_INDEXES: Indexes = [];

/** What is at or above `completions` is cut off: the Job was made smaller. */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const intervals = (text ?? "").split(",").flatMap((part): Interval[] => {
    const limits = /^([0-9]{1,9})(?:-([0-9]{1,9}))?$/.exec(part);
    if (limits === null) return [];
    const first = Number(limits[1]);
    const last = limits[2] === undefined ? first : Math.min(Number(limits[2]), completions - 1);
    return first < completions && first <= last ? [{ first, last }] : [];
  });
  return union(intervals, NO_INDEXES);
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
  return indexes.some(({ first, last }) => first <= index && index <= last);
}

/** Two neighbours are "3,4", more are "3-5". */
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
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}

export function countCommon(a: Indexes, b: Indexes): number {
  return a.reduce((sum, one) => sum + b.reduce((part, other) => part + overlap(one, other), 0), 0);
}

function overlap(a: Interval, b: Interval): number {
  return Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
}
