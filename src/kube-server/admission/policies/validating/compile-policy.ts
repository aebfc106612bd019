/** A ValidatingAdmissionPolicy, compiled. What does not compile is kept with its problem, and becomes an error of the requests it judges. */
import type { KubeObject } from "#kube";
import { BOOL, NULL, STRING } from "#cel";
import {
  compile,
  compileMatchConditions,
  compileVariables,
  type Expression,
  type MatchConditions,
  type Variables,
} from "../../../admission-cel/index.ts";
import { failurePolicyOf, paramKindOf, textAt, type FailurePolicy } from "../policy-list.ts";
import { conditionsOf, itemsAt, namedExpressions } from "../policy-parts.ts";

export type Validation = {
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  /** "": Invalid. */
  readonly reason: string;
};

export type CompiledValidatingPolicy = {
  readonly failurePolicy: FailurePolicy;
  readonly variables: Variables;
  readonly conditions: MatchConditions;
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly Expression[];
};

export function compileValidatingPolicy(policy: KubeObject): CompiledValidatingPolicy {
  const withParams = paramKindOf(policy) !== undefined;
  const variables = compileVariables(namedExpressions(policy), { withParams, withAuthorizer: true });
  const declared = { withParams, withAuthorizer: true, variables: variables.types };
  return {
    failurePolicy: failurePolicyOf(policy),
    variables,
    conditions: compileMatchConditions(conditionsOf(policy), declared),
    validations: itemsAt(policy, "validations").map((validation) => {
      const message = textAt(validation, "messageExpression");
      return {
        expression: compile(textAt(validation, "expression"), { ...declared, returns: [BOOL] }),
        message: textAt(validation, "message"),
        messageExpression: message === "" ? undefined : compile(message, { ...declared, withAuthorizer: false, returns: [STRING] }),
        reason: textAt(validation, "reason"),
      };
    }),
    auditAnnotations: itemsAt(policy, "auditAnnotations").map((annotation) =>
      compile(textAt(annotation, "valueExpression"), { ...declared, returns: [STRING, NULL] }),
    ),
  };
}
