/** Webhook configurations and admission policies. */
import type { JsonObject, KubeObject } from "#kube";
import { policyBindingCells, policyCells, valuesThenAge } from "../cells/others.ts";
import { at, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { duplicate, forbidden, inRange, invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain } from "../rules/formats.ts";
import { ifSetOneOf, requiredText, validateLabelSelector } from "../rules/shared.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];

function webhooks(mutating: boolean): KindRules {
  return {
    needsVersionOnUpdate: true,
    generation: (object) => at(object, "webhooks"),
    onUpdate: "meta-and-spec-first",
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
    ...validateReviewVersions(hook, `${path}.admissionReviewVersions`),
    ...objectsAt(hook, "rules").flatMap((rule, index) => validateRule(rule, `${path}.rules[${index}]`)),
    ...ifSetOneOf(`${path}.failurePolicy`, hook["failurePolicy"], ["Fail", "Ignore"]),
    ...ifSetOneOf(`${path}.matchPolicy`, hook["matchPolicy"], ["Equivalent", "Exact"]),
    ...validateSideEffects(hook, `${path}.sideEffects`),
    ...validateTimeout(hook, `${path}.timeoutSeconds`),
    ...validateLabelSelector(objectAt(hook, "namespaceSelector"), `${path}.namespaceSelector`),
    ...validateLabelSelector(objectAt(hook, "objectSelector"), `${path}.objectSelector`),
    ...(mutating ? ifSetOneOf(`${path}.reinvocationPolicy`, hook["reinvocationPolicy"], ["IfNeeded", "Never"]) : []),
    ...validateClient(objectAt(hook, "clientConfig") ?? {}, `${path}.clientConfig`),
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
  return known ? [] : [invalid(path, versions, "must include at least one of v1, v1beta1")];
}

function validateSideEffects(hook: JsonObject, path: string): Causes {
  const value = hook["sideEffects"];
  if (value === undefined) return [required(path, "must specify one of None, NoneOnDryRun")];
  return ifSetOneOf(path, value, ["None", "NoneOnDryRun"]);
}

function validateTimeout(hook: JsonObject, path: string): Causes {
  const seconds = numberAt(hook, "timeoutSeconds");
  if (seconds === undefined || inRange(path, seconds, [1, 30]).length === 0) return [];
  return [invalid(path, seconds, "the timeout value must be between 1 and 30 seconds")];
}

function validateRule(rule: JsonObject, path: string): Causes {
  const operations = textsAt(rule, "operations");
  const missing = (name: string) => (listAt(rule, name).length === 0 ? [required(`${path}.${name}`)] : []);
  const starred = (name: string) =>
    textsAt(rule, name).length > 1 && textsAt(rule, name).includes("*")
      ? [invalid(`${path}.${name}`, [...textsAt(rule, name)], "if '*' is present, must not specify other " + WORDS[name])]
      : [];
  return [
    ...missing("operations"),
    ...starred("operations"),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...missing("apiGroups"),
    ...starred("apiGroups"),
    ...missing("apiVersions"),
    ...starred("apiVersions"),
    ...missing("resources"),
    ...ifSetOneOf(`${path}.scope`, rule["scope"], SCOPES),
  ];
}

const WORDS: Readonly<Record<string, string>> = { operations: "operations", apiGroups: "API groups", apiVersions: "API versions" };

function validateClient(config: JsonObject, path: string): Causes {
  const [url, service] = [at(config, "url"), objectAt(config, "service")];
  if ((url === undefined) === (service === undefined)) return [required(path, "exactly one of url or service is required")];
  if (service !== undefined) {
    return [
      ...requiredText(`${path}.service.name`, textAt(service, "name")),
      ...requiredText(`${path}.service.namespace`, textAt(service, "namespace")),
      ...inRange(`${path}.service.port`, numberAt(service, "port") ?? 443, [1, 65_535]).map(({ field }) =>
        invalid(field, numberAt(service, "port"), "port is not valid: must be between 1 and 65535, inclusive"),
      ),
    ];
  }
  return validateUrl(typeof url === "string" ? url : "", `${path}.url`);
}

function validateUrl(url: string, path: string): Causes {
  const [, scheme = "", host = ""] = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?/i.exec(url) ?? [];
  const form = "; desired format: https://host[/path]";
  return [
    ...(scheme === "https" ? [] : [invalid(path, url, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === "" ? [invalid(path, url, `host must be specified${form}`)] : []),
    ...(host.includes("@") ? [invalid(path, url, "user information is not permitted in the URL")] : []),
    ...(url.includes("?") ? [invalid(path, url, "query parameters are not permitted in the URL")] : []),
  ];
}

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
    ...(both ? [forbidden("spec.paramRef.name", "name and selector are mutually exclusive")] : []),
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
