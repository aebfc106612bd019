/** A parsed ResourceQuota: its limits, its recorded usage, and which objects it counts. */
import { field, fieldAt } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { addAmounts, NOTHING, onlyNamed, readAmounts, type Amount, type Amounts } from "./amounts.ts";
import type { QuotaEvaluator, QuotaScope } from "./evaluator.ts";
import { itemsAt } from "./pod-resources.ts";

export type ParsedQuota = {
  readonly name: string;
  /** `spec.hard`. */
  readonly wanted: Amounts;
  /** `status.hard`, which is enforced: the part of `wanted` that the quota controller has processed. */
  readonly hard: Amounts;
  readonly used: Amounts;
  /** All must hold. */
  readonly scopes: readonly QuotaScope[];
};

export function readQuota(object: KubeObject): ParsedQuota {
  return {
    name: object.metadata.name,
    wanted: readAmounts(fieldAt(object, "spec", "hard")),
    hard: readAmounts(fieldAt(object, "status", "hard")),
    used: readAmounts(fieldAt(object, "status", "used")),
    scopes: scopesOf(object),
  };
}

function scopesOf(quota: KubeObject): readonly QuotaScope[] {
  const plain = textsOf(fieldAt(quota, "spec", "scopes")).map((name) => ({ name, operator: "Exists", values: [] }));
  const selected = itemsAt(quota, "spec", "scopeSelector", "matchExpressions").map((expression) => ({
    name: textOf(field(expression, "scopeName")),
    operator: textOf(field(expression, "operator")),
    values: textsOf(field(expression, "values")),
  }));
  return [...plain, ...selected];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

export function isInScope(quota: Pick<ParsedQuota, "scopes">, evaluator: QuotaEvaluator, object: KubeObject): boolean {
  return quota.scopes.every((scope) => evaluator.inScope(scope, object));
}

/** The usage of these objects of one kind, for the names in the quota. Names without usage are present with 0. */
export function usageOf(
  quota: ParsedQuota,
  evaluator: QuotaEvaluator,
  counted: { readonly objects: readonly KubeObject[]; readonly now: number },
): Amounts {
  const tracked = [...quota.wanted.keys()].filter((name) => evaluator.tracks(name));
  let usage: Amounts = new Map(tracked.map((name): [string, Amount] => [name, NOTHING]));
  for (const object of counted.objects) {
    if (isInScope(quota, evaluator, object)) usage = addAmounts(usage, evaluator.usage(object, counted.now));
  }
  return onlyNamed(usage, (name) => tracked.includes(name));
}
