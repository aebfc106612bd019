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
import type { CompiledValidatingPolicy, Validation } from "./compile-policy.ts";

/** Why not; `reason` is empty for what went wrong while it was found out. */
export type Denial = { readonly message: string; readonly reason: string };

export type Judgement = {
  /** What the binding's actions are about. */
  readonly denials: readonly Denial[];
  /** Audit annotations that could not be made; these deny whatever the actions are. */
  readonly broken: readonly Denial[];
};

const NO_OBJECTION: Judgement = { denials: [], broken: [] };

export function* judge(policy: CompiledValidatingPolicy, input: ActivationInput): Paced<Judgement> {
  const activate = () => activationOf(input, policy.variables.valuesOf);
  const wanted = yield* meetsConditions(policy.conditions, activate(), policy.failurePolicy);
  if (!wanted.ok) return failed(policy, wanted.error);
  if (!wanted.value) return NO_OBJECTION;
  const verdicts = yield* evaluateAll(
    policy.validations.map(({ expression }) => expression),
    activate(),
    POLICY_BUDGET,
  );
  if (verdicts.spent !== undefined) return failed(policy, verdicts.spent);
  const messages = yield* evaluateAll(
    policy.validations.map(({ messageExpression }) => messageExpression),
    activate(),
    verdicts.budget,
  );
  const denials = policy.validations.flatMap((validation, index) => {
    const verdict = verdicts.results[index];
    if (verdict?.kind === "failed") return errorOf(policy, verdict.message);
    if (messages.spent !== undefined) return errorOf(policy, `failed messageExpression: ${messages.spent}`);
    if (verdict?.kind === "value" && verdict.value === true) return [];
    return [{ message: messageOf(validation, messages.results[index]), reason: validation.reason === "" ? "Invalid" : validation.reason }];
  });
  return yield* annotated(policy, activate(), denials);
}

/** Nothing is recorded: there is no audit log here. But an annotation that cannot be made is an error of the policy. */
function* annotated(policy: CompiledValidatingPolicy, activation: Activation, denials: readonly Denial[]): Paced<Judgement> {
  const annotations = yield* evaluateAll(policy.auditAnnotations, activation, POLICY_BUDGET);
  if (annotations.spent !== undefined) return failed(policy, annotations.spent);
  const broken = annotations.results.flatMap((result) => (result?.kind === "failed" ? errorOf(policy, result.message) : []));
  return { denials, broken };
}

type Results = {
  readonly results: readonly (Evaluation | undefined)[];
  readonly budget: number;
  /** Why nothing of it counts. */
  readonly spent: string | undefined;
};

function* evaluateAll(
  expressions: readonly (Validation["expression"] | undefined)[],
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

function failed(policy: CompiledValidatingPolicy, message: string): Judgement {
  return { denials: errorOf(policy, message), broken: [] };
}

function errorOf({ failurePolicy }: CompiledValidatingPolicy, message: string): readonly Denial[] {
  return failurePolicy === "Ignore" ? [] : [{ message, reason: "" }];
}

function messageOf({ message, expression }: Validation, made: Evaluation | undefined): string {
  const own = made?.kind === "value" ? usableMessage(made.value) : "";
  if (own !== "") return own;
  return message === "" ? `failed expression: ${expression.text.trim()}` : message.trim();
}

const MAX_MESSAGE_BYTES = 5 * 1_024;

/** One line, not too long; otherwise the author's fixed message is better. */
function usableMessage(value: CelValue): string {
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES ? "" : text;
}
