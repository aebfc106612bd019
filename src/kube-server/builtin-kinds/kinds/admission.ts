/** Webhook configurations and admission policies. */
import type { JsonObject, KubeObject } from "#kube";
import { policyBindingCells, policyCells } from "../cells/others.ts";
import { at, listAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, invalidEach, notSupported, required } from "../rules/causes.ts";
import { dnsSubdomain } from "../rules/formats.ts";
import { ifSetOneOf, requiredText, validateLabelSelector } from "../rules/shared.ts";
import { validateRule, webhooks } from "./webhooks.ts";

const specOf = (object: KubeObject) => at(object, "spec");

const validatingPolicy: KindRules = {
  needsVersionOnUpdate: true,
  generation: specOf,
  onUpdate: "meta-and-spec-first",
  validate: (object) => {
    const spec = objectAt(object, "spec") ?? {};
    const empty = listAt(spec, "validations").length === 0 && listAt(spec, "auditAnnotations").length === 0;
    return [
      ...(spec["failurePolicy"] === undefined
        ? [required("spec.failurePolicy")]
        : ifSetOneOf("spec.failurePolicy", spec["failurePolicy"], ["Fail", "Ignore"])),
      ...validateParamKind(objectAt(spec, "paramKind")),
      ...validateConstraints(objectAt(spec, "matchConstraints")),
      ...(empty
        ? [
            required("spec.validations", "validations or auditAnnotations must contain at least one item"),
            required("spec.auditAnnotations", "validations or auditAnnotations must contain at least one item"),
          ]
        : []),
      ...objectsAt(spec, "validations").flatMap((rule, index) => requiredExpression(rule, `spec.validations[${index}]`)),
    ];
  },
  cells: policyCells("validations"),
};

function requiredExpression(rule: JsonObject, path: string): Causes {
  return textAt(rule, "expression").trim() === "" ? [required(`${path}.expression`, "expression is not specified")] : [];
}

function validateParamKind(kind: JsonObject | undefined): Causes {
  if (kind === undefined) return [];
  return [
    ...requiredText("spec.paramKind.apiVersion", textAt(kind, "apiVersion")),
    ...requiredText("spec.paramKind.kind", textAt(kind, "kind")),
  ];
}

function validateConstraints(constraints: JsonObject | undefined): Causes {
  const path = "spec.matchConstraints";
  if (constraints === undefined) return [required(path)];
  const rules = objectsAt(constraints, "resourceRules");
  return [
    ...ifSetOneOf(`${path}.matchPolicy`, constraints["matchPolicy"], ["Equivalent", "Exact"]),
    ...validateLabelSelector(objectAt(constraints, "namespaceSelector"), `${path}.namespaceSelector`),
    ...validateLabelSelector(objectAt(constraints, "objectSelector"), `${path}.objectSelector`),
    ...rules.flatMap((rule, index) => validateRule(rule, `${path}.resourceRules[${index}]`)),
    ...(rules.length === 0 ? [required(`${path}.resourceRules`)] : []),
  ];
}

const validatingBinding: KindRules = {
  needsVersionOnUpdate: true,
  generation: specOf,
  onUpdate: "meta-and-spec-first",
  validate: (object) => {
    const actions = textsAt(object, "spec", "validationActions");
    const name = textAt(object, "spec", "policyName");
    return [
      ...(name === "" ? [required("spec.policyName")] : invalidEach("spec.policyName", name, dnsSubdomain(name))),
      ...validateParamRef(objectAt(object, "spec", "paramRef")),
      ...(actions.length === 0 ? [required("spec.validationActions", "at least one validation action is required")] : []),
      ...actions.flatMap((action, index) => [
        ...(["Audit", "Deny", "Warn"].includes(action)
          ? []
          : [notSupported(`spec.validationActions[${index}]`, action, ["Audit", "Deny", "Warn"])]),
        ...(actions.indexOf(action) < index ? [duplicate(`spec.validationActions[${index}]`, action)] : []),
      ]),
    ];
  },
  cells: policyBindingCells,
};

function validateParamRef(ref: JsonObject | undefined): Causes {
  if (ref === undefined) return [];
  const [name, selector] = [textAt(ref, "name"), objectAt(ref, "selector")];
  const both = name !== "" && selector !== undefined;
  return [
    ...(name === "" && selector === undefined ? [required("spec.paramRef", "one of name or selector must be specified")] : []),
    ...(both ? ["name", "selector"].map((part) => forbidden(`spec.paramRef.${part}`, "name and selector are mutually exclusive")) : []),
    ...(ref["parameterNotFoundAction"] === undefined
      ? [required("spec.paramRef.parameterNotFoundAction")]
      : ifSetOneOf("spec.paramRef.parameterNotFoundAction", ref["parameterNotFoundAction"], ["Allow", "Deny"])),
  ];
}

const generated = (cells: KindRules["cells"]): KindRules => ({
  needsVersionOnUpdate: true,
  generation: specOf,
  ...(cells === undefined ? {} : { cells }),
});

export const admissionKinds: RulesByKind = {
  MutatingWebhookConfiguration: webhooks(true),
  ValidatingWebhookConfiguration: webhooks(false),
  ValidatingAdmissionPolicy: validatingPolicy,
  ValidatingAdmissionPolicyBinding: validatingBinding,
  MutatingAdmissionPolicy: generated(policyCells("mutations")),
  MutatingAdmissionPolicyBinding: generated(policyBindingCells),
};
