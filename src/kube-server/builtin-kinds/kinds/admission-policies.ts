/** ValidatingAdmissionPolicy and MutatingAdmissionPolicy: their expressions are compiled before they are accepted. */
import { repeats } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { BOOL, listType, NULL, STRING } from "#cel";
import { JSON_PATCH, OBJECT, type Declared } from "../../admission-cel/index.ts";
import { policyCells } from "../cells/others.ts";
import { at, listAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { duplicate, invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { validateConditions } from "../rules/conditions.ts";
import { validateExpression, validateMatchConditions, validateVariables } from "../rules/expressions.ts";
import { qualifiedName } from "../rules/formats.ts";
import { oneOf } from "../rules/shared.ts";
import { validateMatchResources, validateParamKind } from "./admission-matching.ts";

const specOf = (object: KubeObject) => at(object, "spec");

export const validatingPolicy: KindRules = {
  needsVersionOnUpdate: true,
  generation: specOf,
  ownMeta: "plain",
  onUpdate: "all-anew",
  validate: validateValidating,
  statusKeepsMeta: true,
  validateStatus: (object) => validateStatus(objectAt(object, "status")),
  cells: policyCells("validations"),
};

export const mutatingPolicy: KindRules = {
  needsVersionOnUpdate: true,
  generation: specOf,
  ownMeta: "plain",
  onUpdate: "all-anew",
  validate: validateMutating,
  cells: policyCells("mutations"),
};

function validateValidating(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  const variables = validateVariables(objectsAt(spec, "variables"), declaredIn(spec));
  // without variables there is no such name: a policy that uses it anyway is a mistake
  const declared = { ...declaredIn(spec), ...(listAt(spec, "variables").length === 0 ? {} : { variables: variables.types }) };
  const empty = listAt(spec, "validations").length === 0 && listAt(spec, "auditAnnotations").length === 0;
  const NEEDS_ONE = "validations or auditAnnotations must contain at least one item";
  return [
    ...validateCommon(spec, []),
    ...variables.causes,
    ...(empty ? [required("spec.validations", NEEDS_ONE), required("spec.auditAnnotations", NEEDS_ONE)] : []),
    ...objectsAt(spec, "validations").flatMap((rule, index) => validateValidation(rule, `spec.validations[${index}]`, declared)),
    ...validateAnnotations(object, objectsAt(spec, "auditAnnotations"), declared),
  ];
}

/** What the type checker of a controller manager writes. */
function validateStatus(status: JsonObject | undefined): Causes {
  const warnings = objectsAt(status, "typeChecking", "expressionWarnings").flatMap((warning, index) => {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    return [
      ...(textAt(warning, "warning") === "" ? [required(`${path}.warning`)] : []),
      ...(textAt(warning, "fieldRef").trim() === "" ? [required(`${path}.fieldRef`)] : []),
    ];
  });
  return [...warnings, ...validateConditions(status, "status.conditions")];
}

function declaredIn(spec: JsonObject): Declared {
  return { withParams: objectAt(spec, "paramKind") !== undefined, withAuthorizer: true };
}

function validateCommon(spec: JsonObject, supported: readonly string[]): Causes {
  const constraints = objectAt(spec, "matchConstraints");
  return [
    ...oneOf("spec.failurePolicy", textAt(spec, "failurePolicy"), ["Fail", "Ignore"]),
    ...validateParamKind(objectAt(spec, "paramKind"), "spec.paramKind"),
    ...(constraints === undefined ? [required("spec.matchConstraints")] : validateMatchResources(constraints, "spec.matchConstraints")),
    ...(constraints !== undefined && listAt(constraints, "resourceRules").length === 0
      ? [required("spec.matchConstraints.resourceRules")]
      : []),
    ...unsupportedOperations(constraints, "spec.matchConstraints", supported),
    ...validateMatchConditions(objectsAt(spec, "matchConditions"), "spec.matchConditions", declaredIn(spec)),
  ];
}

/** Nothing can be mutated when something is deleted. Empty: everything is supported. */
export function unsupportedOperations(resources: JsonObject | undefined, path: string, supported: readonly string[]): Causes {
  if (supported.length === 0) return [];
  const operations = objectsAt(resources, "resourceRules").flatMap((rule) => textsAt(rule, "operations"));
  return operations
    .filter((operation) => !supported.includes(operation))
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, supported));
}

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

function validateValidation(rule: JsonObject, path: string, declared: Declared): Causes {
  const [expression, message, messageExpression] = [textAt(rule, "expression"), textAt(rule, "message"), textAt(rule, "messageExpression")];
  const reason = textAt(rule, "reason");
  return [
    ...(expression.trim() === ""
      ? [required(`${path}.expression`, "expression is not specified")]
      : validateExpression(expression, `${path}.expression`, { ...declared, returns: [BOOL] })),
    ...(messageExpression.trim() === ""
      ? emptyIfSpecified(messageExpression, `${path}.messageExpression`)
      : validateExpression(messageExpression, `${path}.messageExpression`, { ...declared, withAuthorizer: false, returns: [STRING] })),
    ...(message.trim() === "" ? emptyIfSpecified(message, `${path}.message`) : []),
    ...(/[\n\r]/.test(message.trim()) ? [invalid(`${path}.message`, message, "must not contain line breaks")] : []),
    ...(reason === "" || REASONS.includes(reason) ? [] : [notSupported(`${path}.reason`, reason, REASONS)]),
  ];
}

function emptyIfSpecified(text: string, path: string): Causes {
  return text === "" ? [] : [invalid(path, text, "must be non-empty if specified")];
}

const MAX_ANNOTATIONS = 20;
const MAX_VALUE_BYTES = 5 * 1_024;

function validateAnnotations(object: KubeObject, annotations: readonly JsonObject[], declared: Declared): Causes {
  const keys = annotations.map((annotation) => textAt(annotation, "key"));
  const path = "spec.auditAnnotations";
  const many =
    annotations.length > MAX_ANNOTATIONS
      ? [invalid(path, annotations.map(goNames), `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`)]
      : [];
  const stoodBefore = repeats(keys);
  return [
    ...many,
    ...annotations.flatMap((annotation, index) => {
      const key = keys[index] ?? "";
      return [
        ...validateAnnotationKey(object.metadata.name ?? "", key, `${path}[${index}].key`),
        ...validateAnnotationValue(textAt(annotation, "valueExpression"), `${path}[${index}].valueExpression`, declared),
        ...(stoodBefore(key, index) ? [duplicate(`${path}[${index}].key`, key)] : []),
      ];
    }),
  ];
}

/** As Go prints the struct. */
function goNames(annotation: JsonObject): JsonObject {
  return { Key: textAt(annotation, "key"), ValueExpression: textAt(annotation, "valueExpression") };
}

function validateAnnotationKey(policy: string, key: string, path: string): Causes {
  if (policy === "") return [invalid(path, key, "requires metadata.name be non-empty")];
  return invalidEach(path, `${policy}/${key}`, qualifiedName(`${policy}/${key}`));
}

function validateAnnotationValue(given: string, path: string, declared: Declared): Causes {
  const expression = given.trim();
  if (expression === "") return [required(path, "valueExpression is not specified")];
  if (new TextEncoder().encode(expression).length > MAX_VALUE_BYTES)
    return [required(path, `must not exceed ${MAX_VALUE_BYTES} bytes in length`)];
  return validateExpression(expression, path, { ...declared, returns: [STRING, NULL] }, given);
}

export const MUTATING_OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];

function validateMutating(object: KubeObject): Causes {
  const spec = objectAt(object, "spec") ?? {};
  const variables = validateVariables(objectsAt(spec, "variables"), declaredIn(spec));
  const declared = { ...declaredIn(spec), variables: variables.types, withPatchTypes: true };
  const mutations = objectsAt(spec, "mutations");
  return [
    ...validateCommon(spec, MUTATING_OPERATIONS),
    ...variables.causes,
    ...(mutations.length === 0 ? [required("spec.mutations", "mutations must contain at least one item")] : []),
    ...mutations.flatMap((mutation, index) => validateMutation(mutation, `spec.mutations[${index}]`, declared)),
    ...oneOf("spec.reinvocationPolicy", textAt(spec, "reinvocationPolicy"), ["IfNeeded", "Never"]),
  ];
}

const FIELDS = { JSONPatch: "jsonPatch", ApplyConfiguration: "applyConfiguration" } as const;

function validateMutation(mutation: JsonObject, path: string, declared: Declared): Causes {
  const type = textAt(mutation, "patchType");
  if (type !== "JSONPatch" && type !== "ApplyConfiguration") {
    return oneOf(`${path}.patchType`, type, ["ApplyConfiguration", "JSONPatch"]);
  }
  const own = FIELDS[type];
  const other = type === "JSONPatch" ? FIELDS.ApplyConfiguration : FIELDS.JSONPatch;
  const given = objectAt(mutation, own);
  return [
    ...(given === undefined
      ? [required(`${path}.${own}`, `must be specified when patchType is ${type}`)]
      : validatePatch(textAt(given, "expression").trim(), `${path}.${own}.expression`, {
          ...declared,
          returns: [type === "JSONPatch" ? listType(JSON_PATCH) : OBJECT],
        })),
    ...(objectAt(mutation, other) === undefined
      ? []
      : [invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`)]),
  ];
}

function validatePatch(expression: string, path: string, options: Parameters<typeof validateExpression>[2]): Causes {
  return expression === "" ? [required(path)] : validateExpression(expression, path, options);
}
