/** Webhook configurations, admission policies, and the bindings that put policies in force. */
import { repeats } from "#base";
import type { KubeObject } from "#kube";
import { policyBindingCells } from "../cells/others.ts";
import { at, objectAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { duplicate, invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain } from "../rules/formats.ts";
import { validateMatchResources, validateParamRef } from "./admission-matching.ts";
import { MUTATING_OPERATIONS, mutatingPolicy, unsupportedOperations, validatingPolicy } from "./admission-policies.ts";
import { webhooks } from "./webhooks.ts";

function binding(validate: (object: KubeObject) => Causes): KindRules {
  return {
    needsVersionOnUpdate: true,
    generation: (object) => at(object, "spec"),
    ownMeta: "plain",
    onUpdate: "all-anew",
    validate: (object) => [...validateBinding(object), ...validate(object)],
    cells: policyBindingCells,
  };
}

function validateBinding(object: KubeObject): Causes {
  const name = textAt(object, "spec", "policyName");
  const resources = objectAt(object, "spec", "matchResources");
  return [
    ...(name === "" ? [required("spec.policyName")] : invalidEach("spec.policyName", name, dnsSubdomain(name))),
    ...validateParamRef(objectAt(object, "spec", "paramRef"), "spec.paramRef"),
    ...(resources === undefined ? [] : validateMatchResources(resources, "spec.matchResources")),
  ];
}

const ACTIONS = ["Audit", "Deny", "Warn"];
const BOTH =
  "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";

function validateActions(object: KubeObject): Causes {
  const path = "spec.validationActions";
  const actions = textsAt(object, "spec", "validationActions");
  const stoodBefore = repeats(actions);
  return [
    ...actions.flatMap((action, index) => [
      ...(ACTIONS.includes(action) ? [] : [notSupported(`${path}[${index}]`, action, ACTIONS)]),
      ...(stoodBefore(action, index) ? [duplicate(`${path}[${index}]`, action)] : []),
    ]),
    ...(actions.includes("Deny") && actions.includes("Warn") ? [invalid(path, [...actions], BOTH)] : []),
    ...(actions.length === 0 ? [required(path, "at least one validation action is required")] : []),
  ];
}

export const admissionKinds: RulesByKind = {
  MutatingWebhookConfiguration: webhooks(true),
  ValidatingWebhookConfiguration: webhooks(false),
  ValidatingAdmissionPolicy: validatingPolicy,
  ValidatingAdmissionPolicyBinding: binding(validateActions),
  MutatingAdmissionPolicy: mutatingPolicy,
  MutatingAdmissionPolicyBinding: binding((object) =>
    unsupportedOperations(objectAt(object, "spec", "matchResources"), "spec.matchResources", MUTATING_OPERATIONS),
  ),
};
