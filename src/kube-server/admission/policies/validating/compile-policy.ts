/** A compiled ValidatingAdmissionPolicy. An expression that does not compile is kept with its problem, and is an error at evaluation. */
import type { KubeObject } from "#kube";
import { BOOL, NULL, STRING } from "#cel";
import {
  compile,
  compileMatchConditions,
  compileVariables,
  type AdmissionExpression,
  type MatchConditions,
  type Variables,
} from "../../../admission-cel/index.ts";
import { failurePolicyOf, paramKindOf, textAt, type FailurePolicy } from "../policy-list.ts";
import { conditionsOf, itemsAt, namedExpressions } from "../policy-parts.ts";

export type CompiledValidation = {
  readonly expression: AdmissionExpression;
  readonly message: string;
  readonly messageExpression: AdmissionExpression | undefined;
  /** "" means Invalid. */
  readonly reason: string;
};

export type CompiledValidatingPolicy = {
  readonly failurePolicy: FailurePolicy;
  readonly variables: Variables;
  readonly conditions: MatchConditions;
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly AdmissionExpression[];
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
