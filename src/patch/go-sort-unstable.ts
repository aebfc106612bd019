/**
 * Go's `sort.Sort` (pattern-defeating quicksort), step by step. Kubernetes sorts lists with a "less" that is true for equal elements,
 * so the order of two elements with the same merge key (a port with TCP and UDP) depends on the algorithm.
 */
import { insertionSort, type Less } from "./go-sort.ts";

type Data<T> = { readonly items: T[]; readonly less: (a: number, b: number) => boolean };

const LONGEST_INSERTION = 12;
const SHORTEST_NINTHER = 50;
const SHORTEST_SHIFTING = 50;

/** Sorts `items` itself. */
export function goSort<T>(items: T[], less: Less<T>): T[] {
  const data: Data<T> = { items, less: (a, b) => less(items[a] as T, items[b] as T) };
  if (items.length <= LONGEST_INSERTION) insertionSort(items, 0, items.length, less);
  else quickSort(data, 0, items.length, 32 - Math.clz32(items.length), less);
  return items;
}

function quickSort<T>(data: Data<T>, from: number, to: number, badPivots: number, less: Less<T>): void {
  let [start, end, limit] = [from, to, badPivots];
  let balanced = true;
  let partitioned = true;
  for (;;) {
    const length = end - start;
    if (length <= LONGEST_INSERTION) return insertionSort(data.items, start, end, less);
    if (limit === 0) return heapSort(data, start, end);
    if (!balanced) {
      breakPatterns(data, start, end);
      limit--;
    }
    const { pivot, sorted } = choosePivot(data, start, end);
    if (balanced && partitioned && sorted && partialInsertionSort(data, start, end)) return;
    if (start > 0 && !data.less(start - 1, pivot)) {
      start = partitionEqual(data, start, end, pivot);
      continue;
    }
    const { middle, already } = partition(data, start, end, pivot);
    partitioned = already;
    if (middle - start < end - middle) {
      balanced = middle - start >= length >>> 3;
      quickSort(data, start, middle, limit, less);
      start = middle + 1;
    } else {
      balanced = end - middle >= length >>> 3;
      quickSort(data, middle + 1, end, limit, less);
      end = middle;
    }
  }
}

function partition<T>(data: Data<T>, from: number, to: number, pivot: number): { middle: number; already: boolean } {
  swap(data, from, pivot);
  let left = from + 1;
  let right = to - 1;
  for (let already = true; ; already = false) {
    while (left <= right && data.less(left, from)) left++;
    while (left <= right && !data.less(right, from)) right--;
    if (left > right) {
      swap(data, right, from);
      return { middle: right, already };
    }
    swap(data, left++, right--);
  }
}

/** Moves elements equal to the pivot to the left; no element is smaller than the pivot. */
function partitionEqual<T>(data: Data<T>, from: number, to: number, pivot: number): number {
  swap(data, from, pivot);
  let left = from + 1;
  let right = to - 1;
  for (;;) {
    while (left <= right && !data.less(from, left)) left++;
    while (left <= right && data.less(from, right)) right--;
    if (left > right) return left;
    swap(data, left++, right--);
  }
}

/** Returns true if a few shifts sorted the range. */
function partialInsertionSort<T>(data: Data<T>, from: number, to: number): boolean {
  let index = from + 1;
  for (let step = 0; step < 5; step++) {
    while (index < to && !data.less(index, index - 1)) index++;
    if (index === to) return true;
    if (to - from < SHORTEST_SHIFTING) return false;
    swap(data, index, index - 1);
    if (index - from >= 2) for (let at = index - 1; at >= 1 && data.less(at, at - 1); at--) swap(data, at, at - 1);
    if (to - index >= 2) for (let at = index + 1; at < to && data.less(at, at - 1); at++) swap(data, at, at - 1);
  }
  return false;
}

/** Reverses a list that seems to be descending; `sorted` then means that the list seems to be ascending. */
function choosePivot<T>(data: Data<T>, from: number, to: number): { pivot: number; sorted: boolean } {
  const quarter = (to - from) >>> 2;
  let swaps = 0;
  const ordered = (a: number, b: number): [number, number] => {
    if (!data.less(b, a)) return [a, b];
    swaps++;
    return [b, a];
  };
  const median = (first: number, second: number, third: number): number => {
    let [a, b] = ordered(first, second);
    [b] = ordered(b, third);
    [a, b] = ordered(a, b);
    return b;
  };
  const ninther = to - from >= SHORTEST_NINTHER;
  const near = (at: number): number => (ninther ? median(at - 1, at, at + 1) : at);
  const pivot = median(near(from + quarter), near(from + 2 * quarter), near(from + 3 * quarter));
  if (swaps !== 12) return { pivot, sorted: swaps === 0 };
  for (let left = from, right = to - 1; left < right; left++, right--) swap(data, left, right);
  return { pivot: to - 1 - (pivot - from), sorted: true };
}

/** Swaps three elements with a random generator that is seeded with the length, so that the result is deterministic. */
function breakPatterns<T>(data: Data<T>, from: number, to: number): void {
  const length = to - from;
  const mask = 2 ** (32 - Math.clz32(length)) - 1;
  let random = BigInt(length);
  const middle = from + (length >>> 2) * 2;
  for (let index = middle - 1; index <= middle + 1; index++) {
    random = BigInt.asUintN(64, random ^ (random << 13n));
    random ^= random >> 7n;
    random = BigInt.asUintN(64, random ^ (random << 17n));
    const other = Number(random & BigInt(mask));
    swap(data, index, from + (other >= length ? other - length : other));
  }
}

function heapSort<T>(data: Data<T>, from: number, to: number): void {
  const length = to - from;
  for (let root = (length - 1) >>> 1; root >= 0; root--) siftDown(data, root, length, from);
  for (let last = length - 1; last >= 0; last--) {
    swap(data, from, from + last);
    siftDown(data, 0, last, from);
  }
}

function siftDown<T>(data: Data<T>, top: number, length: number, first: number): void {
  for (let root = top; ;) {
    let child = 2 * root + 1;
    if (child >= length) return;
    if (child + 1 < length && data.less(first + child, first + child + 1)) child++;
    if (!data.less(first + root, first + child)) return;
    swap(data, first + root, first + child);
    root = child;
  }
}

function swap<T>(data: Data<T>, a: number, b: number): void {
  const kept = data.items[a] as T;
  data.items[a] = data.items[b] as T;
  data.items[b] = kept;
}
