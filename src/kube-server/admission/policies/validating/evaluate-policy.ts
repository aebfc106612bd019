/** Runs one policy on one request with one set of params. */
import type { CelValue } from "#cel";
import type { Paced } from "../../../pace.ts";
import {
  activationOf,
  evaluate,
  meetsConditions,
  POLICY_BUDGET,
  type Activation,
  type ActivationInput,
  type Evaluation,
} from "../../../admission-cel/index.ts";
import type { CompiledValidatingPolicy, CompiledValidation } from "./compile-policy.ts";

/** `reason` is empty for an error of the evaluation itself. */
export type Denial = { readonly message: string; readonly reason: string };

export type PolicyResult = {
  /** Handled by the validationActions of the binding. */
  readonly denials: readonly Denial[];
  /** Errors of audit annotations, which deny the request whatever the validationActions are. */
  readonly broken: readonly Denial[];
};

const NO_DENIAL: PolicyResult = { denials: [], broken: [] };

export function* evaluatePolicy(policy: CompiledValidatingPolicy, input: ActivationInput): Paced<PolicyResult> {
  const activate = () => activationOf(input, policy.variables.valuesOf);
  const wanted = yield* meetsConditions(policy.conditions, activate(), policy.failurePolicy);
  if (!wanted.ok) return failed(policy, wanted.error);
  if (!wanted.value) return NO_DENIAL;
  const evaluated = yield* evaluateAll(
    policy.validations.map(({ expression }) => expression),
    activate(),
    POLICY_BUDGET,
  );
  if (evaluated.spent !== undefined) return failed(policy, evaluated.spent);
  const messages = yield* evaluateAll(
    policy.validations.map(({ messageExpression }) => messageExpression),
    activate(),
    evaluated.budget,
  );
  const denials = policy.validations.flatMap((validation, index) => {
    const result = evaluated.results[index];
    if (result?.kind === "failed") return errorOf(policy, result.message);
    if (messages.spent !== undefined) return errorOf(policy, `failed messageExpression: ${messages.spent}`);
    if (result?.kind === "value" && result.value === true) return [];
    return [{ message: messageOf(validation, messages.results[index]), reason: validation.reason === "" ? "Invalid" : validation.reason }];
  });
  return yield* annotated(policy, activate(), denials);
}

/** There is no audit log, so nothing is recorded. But an annotation that cannot be evaluated is an error of the policy. */
function* annotated(policy: CompiledValidatingPolicy, activation: Activation, denials: readonly Denial[]): Paced<PolicyResult> {
  const annotations = yield* evaluateAll(policy.auditAnnotations, activation, POLICY_BUDGET);
  if (annotations.spent !== undefined) return failed(policy, annotations.spent);
  const broken = annotations.results.flatMap((result) => (result?.kind === "failed" ? errorOf(policy, result.message) : []));
  return { denials, broken };
}

type Results = {
  readonly results: readonly (Evaluation | undefined)[];
  readonly budget: number;
  /** The reason why the results are not used. */
  readonly spent: string | undefined;
};

function* evaluateAll(
  expressions: readonly (CompiledValidation["expression"] | undefined)[],
  activation: Activation,
  budget: number,
): Paced<Results> {
  const results: (Evaluation | undefined)[] = [];
  let left = budget;
  for (const expression of expressions) {
    if (expression !== undefined) yield;
    const result = expression === undefined ? undefined : evaluate(expression, activation, left);
    if (result?.kind === "spent") return { results: [], budget: 0, spent: result.message };
    if (result !== undefined) left = result.budget;
    results.push(result);
  }
  return { results, budget: left, spent: undefined };
}

function failed(policy: CompiledValidatingPolicy, message: string): PolicyResult {
  return { denials: errorOf(policy, message), broken: [] };
}

function errorOf({ failurePolicy }: CompiledValidatingPolicy, message: string): readonly Denial[] {
  return failurePolicy === "Ignore" ? [] : [{ message, reason: "" }];
}

function messageOf({ message, expression }: CompiledValidation, made: Evaluation | undefined): string {
  const own = made?.kind === "value" ? usableMessage(made.value) : "";
  if (own !== "") return own;
  return message === "" ? `failed expression: ${expression.text.trim()}` : message.trim();
}

const MAX_MESSAGE_BYTES = 5 * 1_024;

/** A single line of limited length; otherwise the fixed message is used. */
function usableMessage(value: CelValue): string {
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES ? "" : text;
}
