/** Webhook configurations, and the rules that say which requests are looked at. */
import type { JsonObject } from "#kube";
import { valuesThenAge } from "../cells/others.ts";
import { at, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, duplicate, inRange, invalid, notSupported, required } from "../rules/causes.ts";
import { dnsSubdomain } from "../rules/formats.ts";
import { ifSetOneOf, requiredText, validateLabelSelector } from "../rules/shared.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

const SCOPES = ["*", "Cluster", "Namespaced"];

export function webhooks(mutating: boolean): KindRules {
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

export function validateRule(rule: JsonObject, path: string): Causes {
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
