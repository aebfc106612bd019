/** Ranges of sizes and costs, with sums and products that stop at the largest 64-bit number instead of wrapping around. */
export type Range = { readonly min: number; readonly max: number };

/** Exact up to 2^53; far below that every message is already "more than 100x". */
export const MAX = 2 ** 64 - 1;

export const UNKNOWN: Range = { min: 0, max: MAX };
export const NOTHING: Range = { min: 0, max: 0 };
export const ONE: Range = { min: 1, max: 1 };

export function fixed(value: number): Range {
  return { min: value, max: value };
}

export function sum(...ranges: readonly Range[]): Range {
  return ranges.reduce((total, range) => ({ min: capped(total.min + range.min), max: capped(total.max + range.max) }), NOTHING);
}

export function product(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

export function scaled(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) };
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function capped(value: number): number {
  return Math.min(value, MAX);
}

export const TEXT_FACTOR = 0.1;
export const REGEX_FACTOR = 0.25;
export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
