/** Runs one expression on one request. Its cost is subtracted from a budget that several expressions share. */
import { CelFailure, Effort, type CelValue } from "#cel";
import type { Activation } from "./activation.ts";
import type { AdmissionExpression } from "./compile.ts";

/** The cost limit of all expressions of one policy binding, and of the match conditions of one hook or binding. */
export const POLICY_BUDGET = 10_000_000;
export const MATCH_BUDGET = 2_500_000;

export type Evaluation =
  | { readonly kind: "value"; readonly value: CelValue; readonly budget: number }
  /** The message is the real server's. Other expressions may still be run. */
  | { readonly kind: "failed"; readonly message: string; readonly budget: number }
  /** The budget or the time is used up: nothing more is run for this request. */
  | { readonly kind: "spent"; readonly message: string };

const SPENT: Evaluation = {
  kind: "spent",
  message: "validation failed due to running out of cost budget, no further validation rules will be run",
};
export function evaluate({ text, compiled }: AdmissionExpression, activation: Activation, budget: number): Evaluation {
  if (!compiled.ok) return { kind: "failed", message: `compilation error: ${compiled.error.detail}`, budget };
  const { pace, variables } = activation;
  const problem = pace?.problem;
  if (problem !== undefined) return { kind: "spent", message: `validation failed: ${problem}, no further validation rules will be run` };
  const effort = new Effort(pace?.clock);
  const limits = { cost: budget, effort };
  variables?.limit(limits);
  const { value, cost } = compiled.value.run(activation.values, limits);
  pace?.count(effort.used);
  const left = budget - (variables?.takeCost() ?? 0) - cost;
  if (left < 0) return SPENT;
  if (value instanceof CelFailure)
    return { kind: "failed", message: `expression '${text}' resulted in error: ${value.message}`, budget: left };
  return { kind: "value", value, budget: left };
}
