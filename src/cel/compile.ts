/** An expression compiled in one environment: parsed, checked, planned, and its cost estimated. */
import { err, ok, type Result } from "#base";
import type { CheckEnvironment } from "./checked.ts";
import { check } from "./checker.ts";
import { brokenConversion } from "./literal-checks.ts";
import { estimateCost } from "./cost/estimator.ts";
import type { DeclaredType } from "./declared-type.ts";
import { planProgram, type Program } from "./evaluator.ts";
import { parseExpression } from "./parser.ts";
import type { CelType } from "./types.ts";

export type CompiledExpression = {
  readonly program: Program;
  readonly type: CelType;
  readonly maxCost: number;
  readonly variablesUsed: ReadonlySet<string>;
};

/** The cost limit of one evaluation of one expression. */
export const CALL_COST_LIMIT = 1_000_000;

export type CelCompileError = { readonly stage: "compilation" | "instantiation"; readonly text: string };

export function compileExpression(
  text: string,
  environment: CheckEnvironment,
  root: DeclaredType,
): Result<CompiledExpression, CelCompileError> {
  const parsed = parseExpression(text);
  if (!parsed.ok) return err({ stage: "compilation", text: parsed.error });
  const checked = check(text, parsed.value, environment);
  if (!checked.ok) return err({ stage: "compilation", text: checked.error });
  const broken = brokenConversion(checked.value);
  if (broken !== undefined) return err({ stage: "instantiation", text: broken });
  return ok({
    program: planProgram(checked.value, CALL_COST_LIMIT),
    type: checked.value.typeOf(parsed.value),
    maxCost: estimateCost(checked.value, root).max,
    variablesUsed: checked.value.variablesUsed,
  });
}
