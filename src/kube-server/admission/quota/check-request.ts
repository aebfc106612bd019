/**
 * Whether a request fits into the quotas of its namespace, and the usage of the quotas after it.
 *
 * Only growth is charged: an update that uses less does not reduce the usage here; the quota controller recounts.
 */
import { err, ok, type Result } from "#base";
import {
  addAmounts,
  describeAmounts,
  growth,
  isInScope,
  onlyNamed,
  withoutZeros,
  type Amounts,
  type KubeObject,
  type QuotaEvaluator,
  type ParsedQuota,
} from "#kube";
import type { Attributes } from "../../protocol/admission-port.ts";

export type Charged<Q extends ParsedQuota> = { readonly quota: Q; readonly used: Amounts };

type QuotaRequest = {
  readonly attributes: Attributes;
  readonly object: KubeObject;
  readonly evaluator: QuotaEvaluator;
  readonly now: number;
};

/** The quotas that change, or the error message. */
export function checkRequest<Q extends ParsedQuota>(quotas: readonly Q[], request: QuotaRequest): Result<readonly Charged<Q>[], string> {
  const concerned: Q[] = [];
  for (const quota of quotas) {
    const names = trackedNames(quota, request);
    if (names.length === 0 || !isInScope(quota, request.evaluator, request.object)) continue;
    const problem = cannotCount(quota, names, request);
    if (problem !== undefined) return err(problem);
    concerned.push(quota);
  }
  return concerned.length === 0 ? ok([]) : charge(concerned, request);
}

function trackedNames({ hard }: ParsedQuota, { evaluator }: QuotaRequest): readonly string[] {
  return [...hard.keys()].filter((name) => evaluator.tracks(name)).toSorted();
}

function cannotCount(quota: ParsedQuota, names: readonly string[], { evaluator, object }: QuotaRequest): string | undefined {
  const refusal = evaluator.refusal(names, object);
  if (refusal !== undefined) return `failed quota: ${quota.name}: ${refusal}`;
  if (names.every((name) => quota.used.has(name))) return undefined;
  return `status unknown for quota: ${quota.name}, resources: ${names.join(",")}`;
}

function charge<Q extends ParsedQuota>(quotas: readonly Q[], request: QuotaRequest): Result<readonly Charged<Q>[], string> {
  const usage = request.evaluator.usage(request.object, request.now);
  const negative = [...usage].filter(([, { quantity }]) => quantity < 0n).map(([name]) => name);
  if (negative.length > 0) return err(`quota usage is negative for resource(s): ${negative.toSorted().join(",")}`);
  const charged: Charged<Q>[] = [];
  for (const quota of quotas) {
    const requested = onlyNamed(withoutZeros(newUsage(quota, usage, request)), (name) => quota.hard.has(name));
    if (requested.size === 0) continue;
    const used = addAmounts(quota.used, requested);
    const problem = request.attributes.subresource === "status" ? undefined : exceeded(quota, requested, used);
    if (problem !== undefined) return err(problem);
    charged.push({ quota, used });
  }
  return ok(charged);
}

/** An object that this quota already counts is charged for its growth only. */
function newUsage(quota: ParsedQuota, usage: Amounts, { attributes, evaluator, now }: QuotaRequest): Amounts {
  const { operation, old } = attributes;
  if (operation !== "UPDATE" || old === undefined || !isInScope(quota, evaluator, old)) return usage;
  return growth(usage, evaluator.usage(old, now));
}

function exceeded({ name, hard, used }: ParsedQuota, requested: Amounts, after: Amounts): string | undefined {
  const isOver = (resource: string): boolean =>
    requested.has(resource) && (after.get(resource)?.quantity ?? 0n) > (hard.get(resource)?.quantity ?? 0n);
  const over = onlyNamed(requested, isOver);
  if (over.size === 0) return undefined;
  const [before, limit] = [onlyNamed(used, isOver), onlyNamed(hard, isOver)];
  return `exceeded quota: ${name}, requested: ${describeAmounts(over)}, used: ${describeAmounts(before)}, limited: ${describeAmounts(limit)}`;
}
