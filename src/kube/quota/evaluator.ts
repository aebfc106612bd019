/** How a kind is counted for a quota: the resource names it uses, the usage of one object, and the scopes it belongs to. */
import type { KubeObject } from "../object.ts";
import { amountOf, type Amounts } from "./amounts.ts";

/** One condition of a quota on the objects it counts. */
export type QuotaScope = {
  readonly name: string;
  readonly operator: string;
  readonly values: readonly string[];
};

export type QuotaEvaluator = {
  readonly group: string;
  readonly plural: string;
  readonly tracks: (name: string) => boolean;
  readonly inScope: (scope: QuotaScope, object: KubeObject) => boolean;
  /** `now` in milliseconds: a pod whose deletion is overdue uses nothing. */
  readonly usage: (object: KubeObject, now: number) => Amounts;
  /** The reason why an object cannot be counted for these names; undefined if it can. */
  readonly refusal: (names: readonly string[], object: KubeObject) => string | undefined;
};

export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}

export const noScope = (): boolean => false;
export const noRefusal = (): undefined => undefined;

/** Every object counts as one. `alias` is the older name, without `count/`. */
export function objectCount(group: string, plural: string, alias?: string): QuotaEvaluator {
  const names = new Set([countName(group, plural), ...(alias === undefined ? [] : [alias])]);
  const one: Amounts = new Map([...names].map((name) => [name, amountOf(1)]));
  return { group, plural, tracks: (name) => names.has(name), inScope: noScope, usage: () => one, refusal: noRefusal };
}

/** Matches a scope's selector, like a label selector, against one value; `undefined` if the object has no value. */
export function selectsValue({ operator, values }: QuotaScope, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "DoesNotExist":
      return value === undefined;
    default:
      return value !== undefined;
  }
}
