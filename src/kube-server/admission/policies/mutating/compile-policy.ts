/** A compiled MutatingAdmissionPolicy: its conditions, its variables, and one expression per mutation. */
import { field, fieldAt, type KubeObject } from "#kube";
import { listType } from "#cel";
import {
  compile,
  compileMatchConditions,
  compileVariables,
  JSON_PATCH,
  OBJECT,
  type AdmissionExpression,
  type MatchConditions,
  type Variables,
} from "../../../admission-cel/index.ts";
import { failurePolicyOf, paramKindOf, textAt, type FailurePolicy } from "../policy-list.ts";
import { conditionsOf, itemsAt, namedExpressions } from "../policy-parts.ts";

export type Mutation = { readonly kind: "apply" | "patch"; readonly expression: AdmissionExpression };

export type CompiledMutatingPolicy = {
  readonly failurePolicy: FailurePolicy;
  /** Run again when the object was changed after this policy. */
  readonly reinvocable: boolean;
  readonly variables: Variables;
  readonly conditions: MatchConditions;
  readonly mutations: readonly Mutation[];
};

export function compileMutatingPolicy(policy: KubeObject): CompiledMutatingPolicy {
  const withParams = paramKindOf(policy) !== undefined;
  const variables = compileVariables(namedExpressions(policy), { withParams, withAuthorizer: true });
  const declared = { withParams, withAuthorizer: true, variables: variables.types };
  return {
    failurePolicy: failurePolicyOf(policy),
    reinvocable: fieldAt(policy, "spec", "reinvocationPolicy") === "IfNeeded",
    variables,
    conditions: compileMatchConditions(conditionsOf(policy), declared),
    mutations: itemsAt(policy, "mutations").map((mutation): Mutation => {
      const isPatch = field(mutation, "patchType") === "JSONPatch";
      const text = textAt(mutation, isPatch ? "jsonPatch" : "applyConfiguration", "expression");
      const returns = [isPatch ? listType(JSON_PATCH) : OBJECT];
      return { kind: isPatch ? "patch" : "apply", expression: compile(text, { ...declared, withPatchTypes: true, returns }) };
    }),
  };
}
