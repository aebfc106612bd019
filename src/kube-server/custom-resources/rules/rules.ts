/** The compiled rules of one schema (x-kubernetes-validations), or their compile errors. */
import {
  compileExpression,
  kubernetesLibrary,
  MAX_REQUEST_BYTES,
  nameTypes,
  optionalType,
  type CelType,
  type CheckEnvironment,
  type CompiledExpression,
  type DeclaredType,
} from "#cel";
import type { JsonSchema, ValidationRule } from "../schema/json-schema.ts";
import { readFieldPath } from "./field-path.ts";

export type CompiledRule = {
  readonly rule: ValidationRule;
  /** Undefined for an empty rule, and when there is an `error`. */
  readonly program: CompiledExpression["program"] | undefined;
  readonly error: string | undefined;
  readonly usesOldSelf: boolean;
  readonly maxCost: number;
  /** The number of values that the rule can apply to, when the schema sets no limits. */
  readonly maxCardinality: number;
  readonly messageProgram: CompiledExpression["program"] | undefined;
  readonly messageError: string | undefined;
  readonly messageMaxCost: number;
  /** The path of the error, below the value that has the rule. */
  readonly fieldPath: string;
};

export function compileRules(schema: JsonSchema, declared: DeclaredType): readonly CompiledRule[] {
  const named = nameTypes(declared, "selfType");
  return schema.validations.map((rule) => compileRule(schema, rule, declared, environmentOf(rule, named)));
}

type Named = ReturnType<typeof nameTypes>;

function environmentOf(rule: ValidationRule, named: Named): CheckEnvironment {
  const old: CelType = rule.optionalOldSelf === true ? optionalType(named.type) : named.type;
  const variables = new Map([
    ["self", named.type],
    ["oldSelf", old],
  ]);
  return { functions: kubernetesLibrary(), variables, fieldsOf: named.fieldsOf };
}

const NOT_COMPILED: Omit<CompiledRule, "rule"> = {
  program: undefined,
  error: undefined,
  usesOldSelf: false,
  maxCost: 0,
  maxCardinality: 0,
  messageProgram: undefined,
  messageError: undefined,
  messageMaxCost: 0,
  fieldPath: "",
};

function compileRule(schema: JsonSchema, rule: ValidationRule, declared: DeclaredType, environment: CheckEnvironment): CompiledRule {
  const nothing = { ...NOT_COMPILED, rule };
  if (rule.rule.trim() === "") return nothing;
  const compiled = compileExpression(rule.rule, environment, declared);
  if (!compiled.ok)
    return {
      ...nothing,
      error: `${compiled.error.stage === "compilation" ? "compilation" : "program instantiation"} failed: ${compiled.error.text}`,
    };
  if (compiled.value.type.kind !== "bool") return { ...nothing, error: "cel expression must evaluate to a bool" };
  const path = rule.fieldPath === "" ? undefined : readFieldPath(rule.fieldPath, schema);
  return {
    ...nothing,
    program: compiled.value.program,
    usesOldSelf: compiled.value.variablesUsed.has("oldSelf"),
    maxCost: compiled.value.maxCost,
    maxCardinality: Math.trunc(MAX_REQUEST_BYTES / (declared.minSize + 1)),
    ...compileMessage(rule, environment, declared),
    fieldPath: path?.ok === true ? path.value.path : "",
  };
}

type Message = Pick<CompiledRule, "messageProgram" | "messageError" | "messageMaxCost">;

function compileMessage(rule: ValidationRule, environment: CheckEnvironment, declared: DeclaredType): Message {
  const none: Message = { messageProgram: undefined, messageError: undefined, messageMaxCost: 0 };
  if (rule.messageExpression === "") return none;
  const compiled = compileExpression(rule.messageExpression, environment, declared);
  if (!compiled.ok) return { ...none, messageError: `messageExpression ${compiled.error.stage} failed: ${compiled.error.text}` };
  if (compiled.value.type.kind !== "string") return { ...none, messageError: "messageExpression must evaluate to a string" };
  return { ...none, messageProgram: compiled.value.program, messageMaxCost: compiled.value.maxCost };
}
