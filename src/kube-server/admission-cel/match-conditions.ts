/** `matchConditions` of webhooks and policies: all must be true. One false result decides; after an error the failure policy decides. */
import { err, ok, type Result } from "#base";
import { BOOL } from "#cel";
import type { Paced } from "../pace.ts";
import type { Activation } from "./activation.ts";
import { compile, type AdmissionExpression } from "./compile.ts";
import type { Declared } from "./environment.ts";
import { evaluate, MATCH_BUDGET } from "./evaluate.ts";

export type MatchConditions = readonly AdmissionExpression[];

export function compileMatchConditions(conditions: readonly { readonly expression: string }[], declared: Declared): MatchConditions {
  return conditions.map(({ expression }) => compile(expression, { ...declared, returns: [BOOL] }));
}

/** Whether they read more than the request: a condition that does not costs the same for objects of any size. */
export function readObjects(conditions: MatchConditions): boolean {
  return conditions.some(({ compiled }) => compiled.ok && OBJECTS.some((name) => compiled.value.reads.has(name)));
}

const OBJECTS = ["object", "oldObject", "params", "variables"];

/** An error only under failurePolicy Fail; under Ignore a condition that fails does not match. */
export function* meetsConditions(
  conditions: MatchConditions,
  activation: Activation,
  failurePolicy: "Fail" | "Ignore",
): Paced<Result<boolean, string>> {
  const problems: string[] = [];
  let budget = MATCH_BUDGET;
  let isFalse = false;
  for (const condition of conditions) {
    yield;
    const outcome = evaluate(condition, activation, budget);
    if (outcome.kind === "spent") return failurePolicy === "Fail" ? err(outcome.message) : ok(false);
    budget = outcome.budget;
    if (outcome.kind === "failed") problems.push(outcome.message);
    else if (outcome.value === false) isFalse = true;
  }
  if (isFalse) return ok(false);
  if (problems.length === 0) return ok(true);
  return failurePolicy === "Fail" ? err(aggregate(problems)) : ok(false);
}

/** As Go's utilerrors.NewAggregate prints: each text once, in brackets when there are several. */
export function aggregate(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}
