/** What each step of a JSONPath does. A step gets many values and gives many; undefined: it cannot be done, and nothing is found. */
import { field, isJsonObject, type Json } from "#kube";

export type Step = (values: readonly Json[]) => readonly Json[] | undefined;

/** A field that is missing is no mistake. */
export function member(name: string): Step {
  return (values) =>
    values.flatMap((value) => {
      const found = field(value, name);
      return found === undefined ? [] : [found];
    });
}

export function children(values: readonly Json[]): readonly Json[] {
  return values.flatMap(childrenOf);
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((item) => item !== undefined) : [];
}

/** Everything that has something below it, from the top down. */
export function descendants(values: readonly Json[]): readonly Json[] {
  return values.flatMap((value) => {
    const below = childrenOf(value);
    return below.length === 0 ? [] : [value, ...descendants(below)];
  });
}

export function chain(steps: readonly Step[]): Step {
  return (values) => steps.reduce((found: readonly Json[] | undefined, step) => (found === undefined ? undefined : step(found)), values);
}

export function union(parts: readonly Step[]): Step {
  return (values) => {
    const found = parts.map((part) => part(values));
    return found.some((one) => one === undefined) ? undefined : found.flatMap((one) => one ?? []);
  };
}

export type Slice = { readonly start: number; readonly end: number | undefined; readonly step: number; readonly single: boolean };

/** An index outside of a list is a mistake, and so is anything that is no list. */
export function slice(wanted: Slice): Step {
  return (values) => {
    const found: Json[] = [];
    for (const value of values) {
      if (value === null) continue;
      const part = Array.isArray(value) ? sliceOf(value, wanted) : undefined;
      if (part === undefined) return undefined;
      found.push(...part);
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

export type Comparison = { readonly left: Step; readonly operator: string; readonly right: Step };

/** Items of lists for which the comparison holds; without one, those in which the left side is found. */
export function filter(left: Step, comparison: Comparison | undefined): Step {
  return (values) => {
    const found: Json[] = [];
    for (const value of values) {
      if (!Array.isArray(value)) return undefined;
      for (const item of value as readonly Json[]) {
        const holds = comparison === undefined ? (left([item])?.length ?? 0) > 0 : compared(item, comparison);
        if (holds === undefined) return undefined;
        if (holds) found.push(item);
      }
    }
    return found;
  };
}

function compared(item: Json, { left, operator, right }: Comparison): boolean | undefined {
  const [lefts, rights] = [left([item]), right([item])];
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
