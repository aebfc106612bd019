/**
 * Label selectors of many requirements; the time of a match depends on the labels of the object and not on the selector.
 *
 * Requirements are grouped by key. A match checks only the labels that the object has, and counts how many of them are required: the object
 * matches if the count equals the number of required keys.
 */
import { memoizeByObject } from "#base";
import type { Requirement } from "./selectors.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** All requirements of a selector on one label. */
type KeyRule = {
  /** The label is required. */
  needed: boolean;
  absent: boolean;
  allowed: ReadonlySet<string> | undefined;
  denied: Set<string> | undefined;
  above: number;
  below: number;
};

export class CompiledSelector {
  readonly #rules = new Map<string, KeyRule>();
  readonly #needed: number;

  constructor(requirements: readonly Requirement[]) {
    for (const requirement of requirements) {
      const rule = this.#rules.get(requirement.key) ?? newRule();
      this.#rules.set(requirement.key, rule);
      addTo(rule, requirement);
    }
    this.#needed = [...this.#rules.values()].filter(({ needed }) => needed).length;
  }

  matches(labels: Labels): boolean {
    let found = 0;
    for (const key in labels) {
      const rule = Object.hasOwn(labels, key) ? this.#rules.get(key) : undefined;
      if (rule === undefined) continue;
      if (!holds(rule, labels[key] ?? "")) return false;
      if (rule.needed) found += 1;
    }
    return found === this.#needed;
  }
}

function newRule(): KeyRule {
  const unbounded = { above: Number.NEGATIVE_INFINITY, below: Number.POSITIVE_INFINITY };
  return { needed: false, absent: false, allowed: undefined, denied: undefined, ...unbounded };
}

function addTo(rule: KeyRule, requirement: Requirement): void {
  if (requirement.operator === "absent") rule.absent = true;
  else if (requirement.operator === "notin") deny(rule, requirement.values);
  else rule.needed = true;
  if (requirement.operator === "greater") rule.above = Math.max(rule.above, requirement.value);
  else if (requirement.operator === "less") rule.below = Math.min(rule.below, requirement.value);
  else if (requirement.operator === "in") rule.allowed = both(rule.allowed, requirement.values);
}

function deny(rule: KeyRule, values: readonly string[]): void {
  rule.denied ??= new Set();
  for (const value of values) rule.denied.add(value);
}

function both(allowed: ReadonlySet<string> | undefined, values: readonly string[]): ReadonlySet<string> {
  return allowed === undefined ? new Set(values) : new Set(values.filter((value) => allowed.has(value)));
}

function holds({ absent, allowed, denied, above, below }: KeyRule, value: string): boolean {
  if (absent || denied?.has(value) === true || allowed?.has(value) === false) return false;
  if (above === Number.NEGATIVE_INFINITY && below === Number.POSITIVE_INFINITY) return true;
  return isWhole(value) && Number(value) > above && Number(value) < below;
}

export function isWhole(text: string): boolean {
  return /^-?[0-9]{1,15}$/.test(text);
}

/** Requirements are immutable. */
export const compiledSelector = memoizeByObject((requirements: readonly Requirement[]) => new CompiledSelector(requirements));

export const valueSet = memoizeByObject((values: readonly string[]): ReadonlySet<string> => new Set(values));
