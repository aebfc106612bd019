/** Indexes of a Job's Pods as its status writes them: "1,3-5,7". The messages are those of a real server. */
import { goQuote } from "#kube";

type Interval = { readonly first: number; readonly last: number };

/** What is wrong with a list of indexes, if anything is. */
export function indexesProblem(text: string, completions: number): string | undefined {
  if (text === "") return undefined;
  let previous: number | undefined;
  for (const part of text.split(",")) {
    const interval = readInterval(part, completions);
    if (typeof interval === "string") return interval;
    if (previous !== undefined && previous >= interval.first) return notRising(previous, interval.first);
    previous = interval.last;
  }
  return undefined;
}

/** Where the first index stands in both, if one does. Intervals that cannot be read are skipped: another rule reports them. */
export function indexesOverlap(completed: string, failed: string, completions: number): string | undefined {
  const [done, lost] = [completed, failed].map((text) => readable(text, completions)) as [Interval[], Interval[]];
  let [atDone, atLost] = [0, 0];
  for (;;) {
    const [one, other] = [done[atDone], lost[atLost]];
    if (one === undefined || other === undefined) return undefined;
    if (one.first <= other.last && other.first <= one.last)
      return `failedIndexes and completedIndexes overlap at index: ${Math.max(one.first, other.first)}`;
    if (one.first <= other.first) atDone += 1;
    else atLost += 1;
  }
}

function readable(text: string, completions: number): readonly Interval[] {
  if (text === "") return [];
  return text.split(",").flatMap((part) => {
    const interval = readInterval(part, completions);
    return typeof interval === "string" ? [] : [interval];
  });
}

/** A text says what is wrong. */
function readInterval(part: string, completions: number): Interval | string {
  const [first = "", last, ...more] = part.split("-");
  if (more.length > 0)
    return `the fragment ${goQuote(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const from = readIndex(first, completions);
  if (typeof from === "string" || last === undefined) return typeof from === "string" ? from : { first: from, last: from };
  const to = readIndex(last, completions);
  if (typeof to === "string") return to;
  return from >= to ? notRising(from, to) : { first: from, last: to };
}

function readIndex(text: string, completions: number): number | string {
  if (!/^\+?[0-9]{1,15}$/.test(text)) return `cannot convert string to integer for index: ${goQuote(text)}`;
  return Number(text) >= completions ? `too large index: ${goQuote(text)}` : Number(text);
}

function notRising(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}
