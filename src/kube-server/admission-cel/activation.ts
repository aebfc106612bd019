/** The values that the expressions of one request read. Made once per request and object version, and shared by many expressions. */
import type { KubeObject } from "#kube";
import type { CelMap, RunLimits, VariableValues } from "#cel";
import type { Authorizer } from "../protocol/auth-port.ts";
import type { Pace } from "../pace.ts";
import type { Attributes } from "../protocol/admission-port.ts";
import { RequestValues } from "./request-values.ts";
import type { Matched } from "./request.ts";

export type ActivationInput = {
  readonly attributes: Attributes;
  readonly matched: Matched;
  /** In the version that matched. Undefined is null in an expression. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** Undefined is null: cluster-scoped objects have no namespace, and match conditions of webhooks never read it. */
  readonly namespace?: KubeObject | undefined;
  readonly params?: KubeObject | undefined;
  readonly authorize?: Authorizer | undefined;
  /** The time budget of the request; undefined: no limit. */
  readonly pace?: Pace | undefined;
};

export type Activation = {
  readonly values: VariableValues & Pick<RequestValues, "isNamesOnly">;
  readonly variables: LazyVariables | undefined;
  readonly pace: Pace | undefined;
};

/** The values of `variables`, each evaluated when an expression first reads it. */
export type LazyVariables = {
  readonly map: CelMap;
  /** The limits of the next expression, which include those of the variables that it reads. */
  readonly limit: (limits: Required<RunLimits>) => void;
  /** The cost of variables since the last call. */
  readonly takeCost: () => number;
};

export type VariablesOf = (values: VariableValues) => LazyVariables;

export function activationOf(input: ActivationInput, variablesOf?: VariablesOf): Activation {
  const values = new RequestValues(input);
  const variables = variablesOf?.(values);
  if (variables !== undefined) values.set("variables", variables.map);
  return { values, variables, pace: input.pace };
}
