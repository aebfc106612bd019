/** Webhook configurations, and the rules that say which requests are looked at. */
import { repeats } from "#base";
import { dns1035LabelProblems, type JsonObject } from "#kube";
import { valuesThenAge } from "../cells/others.ts";
import { at, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { webhookClientCauses } from "../../custom-resources/crd/webhook-rules.ts";
import { type Causes, duplicate, inRange, invalid, invalidEach, required } from "../rules/causes.ts";
import { validateRule } from "../rules/admission-rules.ts";
import { validateMatchConditions } from "../rules/expressions.ts";
import { dnsSubdomain } from "../rules/formats.ts";
import { ifSetOneOf, validateLabelSelector } from "../rules/shared.ts";

export function webhooks(mutating: boolean): KindRules {
  return {
    needsVersionOnUpdate: true,
    generation: (object) => at(object, "webhooks"),
    ownMeta: "plain",
    onUpdate: "all-anew",
    validate: (object) => {
      const names = new Set<string>();
      return objectsAt(object, "webhooks").flatMap((hook, index) => {
        const name = textAt(hook, "name");
        const again = names.has(name);
        names.add(name);
        const path = `webhooks[${index}]`;
        return [...validateWebhook(hook, path, mutating), ...(again && name !== "" ? [duplicate(`${path}.name`, name)] : [])];
      });
    },
    cells: valuesThenAge((object) => listAt(object, "webhooks").length),
  };
}

function validateWebhook(hook: JsonObject, path: string, mutating: boolean): Causes {
  return [
    ...validateHookName(textAt(hook, "name"), `${path}.name`),
    ...objectsAt(hook, "rules").flatMap((rule, index) => validateRule(rule, `${path}.rules[${index}]`)),
    ...ifSetOneOf(`${path}.failurePolicy`, hook["failurePolicy"], ["Fail", "Ignore"]),
    ...ifSetOneOf(`${path}.matchPolicy`, hook["matchPolicy"], ["Equivalent", "Exact"]),
    ...validateSideEffects(hook, `${path}.sideEffects`),
    ...validateTimeout(hook, `${path}.timeoutSeconds`),
    ...validateLabelSelector(objectAt(hook, "namespaceSelector"), `${path}.namespaceSelector`),
    ...validateLabelSelector(objectAt(hook, "objectSelector"), `${path}.objectSelector`),
    ...(mutating ? ifSetOneOf(`${path}.reinvocationPolicy`, hook["reinvocationPolicy"], ["IfNeeded", "Never"]) : []),
    ...webhookClientCauses(objectAt(hook, "clientConfig") ?? {}, `${path}.clientConfig`),
    ...validateMatchConditions(objectsAt(hook, "matchConditions"), `${path}.matchConditions`, { withAuthorizer: true }),
    ...validateReviewVersions(hook, `${path}.admissionReviewVersions`),
  ];
}

function validateHookName(name: string, path: string): Causes {
  if (name === "") return [required(path)];
  const form = dnsSubdomain(name);
  if (form.length > 0) return [invalid(path, name, form.join(","))];
  return name.split(".").length < 3 ? [invalid(path, name, "should be a domain with at least three segments separated by dots")] : [];
}

function validateReviewVersions(hook: JsonObject, path: string): Causes {
  const versions = textsAt(hook, "admissionReviewVersions");
  if (versions.length === 0) return [required(path, "must specify one of v1, v1beta1")];
  const known = versions.some((version) => version === "v1" || version === "v1beta1");
  const stoodBefore = repeats(versions);
  return [
    ...versions.flatMap((version, index) =>
      stoodBefore(version, index)
        ? [invalid(`${path}[${index}]`, version, "duplicate version")]
        : invalidEach(`${path}[${index}]`, version, dns1035LabelProblems(version)),
    ),
    ...(known ? [] : [invalid(path, versions, "must include at least one of v1, v1beta1")]),
  ];
}

function validateSideEffects(hook: JsonObject, path: string): Causes {
  const value = hook["sideEffects"] ?? undefined;
  if (value === undefined) return [required(path, "must specify one of None, NoneOnDryRun")];
  return ifSetOneOf(path, value, ["None", "NoneOnDryRun"]);
}

function validateTimeout(hook: JsonObject, path: string): Causes {
  const seconds = numberAt(hook, "timeoutSeconds");
  if (seconds === undefined || inRange(path, seconds, [1, 30]).length === 0) return [];
  return [invalid(path, seconds, "the timeout value must be between 1 and 30 seconds")];
}
