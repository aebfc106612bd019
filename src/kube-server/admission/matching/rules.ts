/**
 * Rules: which requests a policy (or a webhook) matches, by operation, group, version, resource, scope and name.
 *
 * Under the match policy "Equivalent" a rule for one version also matches requests to another version of the same objects. The policy or
 * webhook then receives the object in the version of the rule, so the result of a match has that version.
 */
import { field, isJsonObject, type Json, type JsonObject, type Resource } from "#kube";
import type { ResourceType } from "../../resource-type.ts";
import type { TypeRegistry } from "../../protocol/type-registry.ts";
import type { Attributes } from "../../protocol/admission-port.ts";

export type AdmissionRule = {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** "pods", "pods/exec", "*", … */
  readonly resources: readonly string[];
  readonly scope: string;
  /** Empty: any. */
  readonly resourceNames: readonly string[];
};

export type MatchPolicy = "Exact" | "Equivalent";

/** The version of the resource in which the request matched, and the kind of its objects in that version. */
export type MatchedRule = { readonly type: ResourceType; readonly kind: Attributes["kind"]; readonly resource: Resource };

export function readRules(rules: Json | undefined): readonly AdmissionRule[] {
  return Array.isArray(rules) ? (rules as readonly Json[]).filter(isJsonObject).map(readRule) : [];
}

function readRule(rule: JsonObject): AdmissionRule {
  const scope = field(rule, "scope");
  return {
    operations: textsOf(field(rule, "operations")),
    apiGroups: textsOf(field(rule, "apiGroups")),
    apiVersions: textsOf(field(rule, "apiVersions")),
    resources: textsOf(field(rule, "resources")),
    scope: typeof scope === "string" ? scope : "*",
    resourceNames: textsOf(field(rule, "resourceNames")),
  };
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(String) : [];
}

export function matchRules(
  rules: readonly AdmissionRule[],
  attributes: Attributes,
  { types, policy }: { readonly types: TypeRegistry; readonly policy: MatchPolicy },
): MatchedRule | undefined {
  const { type, operation } = attributes;
  // before the other versions are looked up, which takes longer than the rules
  if (!rules.some(({ operations }) => includes(operations, operation))) return undefined;
  if (rules.some((rule) => matches(rule, attributes, type.resource))) return matchedIn(type, attributes);
  if (policy === "Exact") return undefined;
  const others = types.versionsOf(type).filter((other) => other !== type);
  if (others.length === 0) return undefined;
  for (const rule of rules) {
    const match = others.find((other) => matches(rule, attributes, other.resource));
    if (match !== undefined) return matchedIn(match, attributes);
  }
  return undefined;
}

/** The kind of a subresource with its own kind (a Scale) stays the same. */
export function matchedIn(type: ResourceType, attributes: Attributes): MatchedRule {
  const isOwnKind = attributes.kind.kind === attributes.type.resource.kind && attributes.kind.group === attributes.type.resource.group;
  return { type, resource: type.resource, kind: isOwnKind ? type.resource : attributes.kind };
}

function matches(rule: AdmissionRule, attributes: Attributes, resource: Resource): boolean {
  return (
    includes(rule.operations, attributes.operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    rule.resources.some((one) => isResource(one, resource.plural, attributes.subresource ?? "")) &&
    inScope(rule.scope, attributes) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name))
  );
}

const includes = (items: readonly string[], wanted: string): boolean => items.includes("*") || items.includes(wanted);

function isResource(rule: string, plural: string, subresource: string): boolean {
  const slash = rule.indexOf("/");
  const [resource, below] = slash < 0 ? [rule, ""] : [rule.slice(0, slash), rule.slice(slash + 1)];
  return (resource === "*" || resource === plural) && (below === "*" || below === subresource);
}

function inScope(scope: string, { namespace }: Attributes): boolean {
  if (scope === "*") return true;
  return scope === "Namespaced" ? namespace !== undefined : namespace === undefined;
}
