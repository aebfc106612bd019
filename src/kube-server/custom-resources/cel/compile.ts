/** An expression compiled in one environment: parsed, checked, planned, and its cost estimated. */
import { err, ok, type Result } from "#base";
import { check, type CheckEnvironment } from "./checker.ts";
import { estimateCost } from "./cost/estimator.ts";
import type { DeclaredType } from "./declared-type.ts";
import { planProgram, type Program } from "./evaluator.ts";
import { parseExpression } from "./parser.ts";
import type { CelType } from "./types.ts";

export type Compiled = {
  readonly program: Program;
  readonly type: CelType;
  readonly maxCost: number;
  readonly variablesUsed: ReadonlySet<string>;
};

/** What one evaluation of one expression may cost. */
export const CALL_COST_LIMIT = 1_000_000;

export function compileExpression(text: string, environment: CheckEnvironment, root: DeclaredType): Result<Compiled, string> {
  const parsed = parseExpression(text);
  if (!parsed.ok) return parsed;
  const checked = check(text, parsed.value, environment);
  if (!checked.ok) return err(checked.error);
  return ok({
    program: planProgram(checked.value, CALL_COST_LIMIT),
    type: checked.value.typeOf(parsed.value),
    maxCost: estimateCost(checked.value, root).max,
    variablesUsed: checked.value.variablesUsed,
  });
}
