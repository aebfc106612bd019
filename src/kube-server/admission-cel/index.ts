export { activationOf, type Activation, type ActivationInput, type VariablesOf } from "./activation.ts";
export { compile, type CompileOptions, type CompileProblem, type AdmissionExpression } from "./compile.ts";
export type { Declared } from "./environment.ts";
export { evaluate, POLICY_BUDGET, type Evaluation } from "./evaluate.ts";
export { compileMatchConditions, meetsConditions, readObjects, type MatchConditions } from "./match-conditions.ts";
export { JSON_PATCH, OBJECT } from "./patch-types.ts";
export { namesKey } from "./request-values.ts";
export { admissionRequest, type Matched } from "./request.ts";
export { compileVariables, type NamedExpression, type Variables } from "./variables.ts";
