/**
 * Go's stable sort. Kubernetes sorts with comparisons that are not a strict order ("less" is true for equal or unknown elements), so the
 * result depends on the algorithm, and this file repeats the steps of Go's `sort` package.
 */
export type Less<T> = (a: T, b: T) => boolean;

/** `sort.SliceStable`: insertion sort in blocks of 20, then merging in place (SymMerge). Sorts `items` itself. */
export function goSortStable<T>(items: T[], less: Less<T>): T[] {
  let block = 20;
  const total = items.length;
  for (let from = 0; from < total; from += block) insertionSort(items, from, Math.min(from + block, total), less);
  for (; block < total; block *= 2) {
    for (let from = 0; from + block < total; from += 2 * block) {
      symMerge(items, from, from + block, Math.min(from + 2 * block, total), less);
    }
  }
  return items;
}

export function insertionSort<T>(items: T[], from: number, to: number, less: Less<T>): void {
  for (let outer = from + 1; outer < to; outer++) {
    for (let inner = outer; inner > from && less(at(items, inner), at(items, inner - 1)); inner--) swap(items, inner, inner - 1);
  }
}

function symMerge<T>(items: T[], from: number, middle: number, to: number, less: Less<T>): void {
  if (middle - from === 1) return insertFirst(items, from, middle, to, less);
  if (to - middle === 1) return insertLast(items, from, middle, less);
  const half = (from + to) >>> 1;
  const sum = half + middle;
  let start = middle > half ? sum - to : from;
  let end = middle > half ? half : middle;
  while (start < end) {
    const probe = (start + end) >>> 1;
    if (less(at(items, sum - 1 - probe), at(items, probe))) end = probe;
    else start = probe + 1;
  }
  end = sum - start;
  if (start < middle && middle < end) rotate(items, start, middle, end);
  if (from < start && start < half) symMerge(items, from, start, half, less);
  if (half < end && end < to) symMerge(items, half, end, to, less);
}

/** The left run is one element: finds its position in the right run and moves it there. */
function insertFirst<T>(items: T[], from: number, middle: number, to: number, less: Less<T>): void {
  let low = middle;
  let high = to;
  while (low < high) {
    const probe = (low + high) >>> 1;
    if (less(at(items, probe), at(items, from))) low = probe + 1;
    else high = probe;
  }
  for (let index = from; index < low - 1; index++) swap(items, index, index + 1);
}

function insertLast<T>(items: T[], from: number, middle: number, less: Less<T>): void {
  let low = from;
  let high = middle;
  while (low < high) {
    const probe = (low + high) >>> 1;
    if (less(at(items, middle), at(items, probe))) high = probe;
    else low = probe + 1;
  }
  for (let index = middle; index > low; index--) swap(items, index, index - 1);
}

function rotate(items: unknown[], from: number, middle: number, to: number): void {
  const left = items.slice(from, middle);
  items.copyWithin(from, middle, to);
  for (const [offset, item] of left.entries()) items[from + to - middle + offset] = item;
}

function swap(items: unknown[], a: number, b: number): void {
  const kept = items[a];
  items[a] = items[b];
  items[b] = kept;
}

function at<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}
