/**
 * The steps of a JSONPath. A step maps values to values; undefined: it is not applicable, and the path finds nothing.
 *
 * `..` returns a value once for every path to it, so two of them square the number of values. Every returned value is charged to a budget, and a
 * path that exceeds it finds nothing.
 */
import { field, isJsonObject, type Json } from "#kube";

/** How many values may still be visited. */
export type VisitBudget = { left: number };
export type PathStep = (values: readonly Json[], budget: VisitBudget) => readonly Json[] | undefined;

/** A missing field is no error. */
export function member(name: string): PathStep {
  return (values, budget) => {
    const found: Json[] = [];
    for (const value of values) {
      const own = field(value, name);
      if (own !== undefined) found.push(own);
    }
    return charge(budget, values.length) ? found : undefined;
  };
}

function charge(budget: VisitBudget, visits: number): boolean {
  budget.left -= visits;
  return budget.left >= 0;
}

export const children: PathStep = (values, budget) => {
  const found: Json[] = [];
  for (const value of values) {
    const own = childrenOf(value);
    if (!charge(budget, own.length + 1)) return undefined;
    for (const one of own) found.push(one);
  }
  return found;
};

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((item) => item !== undefined) : [];
}

/** Every object and list, from the top down. */
export const descendants: PathStep = (values, budget) => {
  const found: Json[] = [];
  const open = values.toReversed();
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const below = childrenOf(value);
    if (!charge(budget, below.length + 1)) return undefined;
    if (below.length > 0) found.push(value);
    for (let at = below.length - 1; at >= 0; at -= 1) open.push(below[at] ?? null);
  }
  return found;
};

export function chain(steps: readonly PathStep[]): PathStep {
  return (values, budget) => {
    let found: readonly Json[] | undefined = values;
    for (const step of steps) {
      found = charge(budget, 1) ? step(found, budget) : undefined;
      if (found === undefined) return undefined;
    }
    return found;
  };
}

export function union(parts: readonly PathStep[]): PathStep {
  return (values, budget) => {
    const found: Json[] = [];
    for (const part of parts) {
      const one = charge(budget, values.length) ? part(values, budget) : undefined;
      if (one === undefined) return undefined;
      for (const value of one) found.push(value);
    }
    return found;
  };
}

export type Slice = { readonly start: number; readonly end: number | undefined; readonly step: number; readonly single: boolean };

/** An index outside of a list is an error, and so is a value that is no list. */
export function slice(wanted: Slice): PathStep {
  return (values, budget) => {
    const found: Json[] = [];
    for (const value of values) {
      if (value === null) continue;
      const part = Array.isArray(value) ? sliceOf(value, wanted) : undefined;
      if (part === undefined || !charge(budget, part.length + 1)) return undefined;
      for (const one of part) found.push(one);
    }
    return found;
  };
}

function sliceOf(list: readonly Json[], { start, end, step, single }: Slice): readonly Json[] | undefined {
  const { length } = list;
  const from = start < 0 ? start + length : start;
  const stated = single ? start + 1 : (end ?? length);
  const to = stated < 0 || (single && stated === 0) ? stated + length : stated;
  if (from === to) return [];
  if (from < 0 || from >= length || to < 0 || to > length || from > to || step < 1) return undefined;
  return list.slice(from, to).filter((_, at) => at % step === 0);
}

export type FilterComparison = { readonly left: PathStep; readonly operator: string; readonly right: PathStep };

/** Items of lists for which the comparison holds; without one, those in which the left side is found. */
export function filter(left: PathStep, comparison: FilterComparison | undefined): PathStep {
  return (values, budget) => {
    const found: Json[] = [];
    for (const value of values) {
      if (!Array.isArray(value)) return undefined;
      for (const item of value as readonly Json[]) {
        if (!charge(budget, 1)) return undefined;
        const holds = comparison === undefined ? (left([item], budget)?.length ?? 0) > 0 : compared(item, comparison, budget);
        if (holds === undefined) return undefined;
        if (holds) found.push(item);
      }
    }
    return found;
  };
}

function compared(item: Json, { left, operator, right }: FilterComparison, budget: VisitBudget): boolean | undefined {
  const [lefts, rights] = [left([item], budget), right([item], budget)];
  if (lefts === undefined || rights === undefined) return undefined;
  const [[a], [b]] = [lefts, rights];
  if (a === undefined || b === undefined) return false;
  if (lefts.length > 1 || rights.length > 1 || kindOf(a) === undefined || kindOf(a) !== kindOf(b)) return undefined;
  return order(a as string | number | boolean, b as string | number | boolean, operator);
}

/** Whole numbers and others cannot be compared, as in Go's templates. */
function kindOf(value: Json): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}

function order(a: string | number | boolean, b: string | number | boolean, operator: string): boolean | undefined {
  if (operator === "==") return a === b;
  if (operator === "!=") return a !== b;
  if (typeof a === "boolean") return undefined;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  if (operator === ">") return a > b;
  return operator === ">=" ? a >= b : undefined;
}
