/** The rules of Roles: whether a rule allows a request, and whether rules cover other rules. Pure functions. */
import { memoizeByObject } from "#base";
import { field, fieldAt, type JsonObject, type KubeObject } from "#kube";
import type { Access } from "../../protocol/auth-port.ts";

export type AccessRule = {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
};

/** Stored objects never change, so their rules are parsed once. */
export const rulesOf = memoizeByObject((role: KubeObject) => readRules(fieldAt(role, "rules")));

export function readRules(value: unknown): readonly AccessRule[] {
  return Array.isArray(value) ? value.map(readRule) : [];
}

/** In the form of a Role, without empty lists. */
export function ruleObject({ verbs, ...lists }: AccessRule): JsonObject {
  return { verbs, ...Object.fromEntries(Object.entries(lists).filter(([, values]) => values.length > 0)) };
}

function readRule(value: unknown): AccessRule {
  const texts = (name: string): readonly string[] => {
    const list = field(value, name);
    return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];
  };
  return {
    verbs: texts("verbs"),
    apiGroups: texts("apiGroups"),
    resources: texts("resources"),
    resourceNames: texts("resourceNames"),
    nonResourceURLs: texts("nonResourceURLs"),
  };
}

export function ruleAllows(rule: AccessRule, access: Access): boolean {
  if (!hasOrAll(rule.verbs, access.verb)) return false;
  if (access.kind === "path") return rule.nonResourceURLs.some((url) => urlCovers(url, access.path));
  return (
    hasOrAll(rule.apiGroups, access.group) &&
    resourceMatches(rule, access.resource, access.subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(access.name))
  );
}

function hasOrAll(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function resourceMatches({ resources }: AccessRule, resource: string, subresource: string | undefined): boolean {
  if (subresource === undefined) return hasOrAll(resources, resource);
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function urlCovers(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.replace(/\*+$/, "")));
}

/** The parts of `wanted` that no single rule of `held` grants, split into one verb, one resource and one name each. */
export function uncovered(held: readonly AccessRule[], wanted: readonly AccessRule[]): readonly AccessRule[] {
  return wanted.flatMap(breakdown).filter((small) => !held.some((rule) => covers(rule, small)));
}

const NOTHING: AccessRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

function breakdown({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: AccessRule): AccessRule[] {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ ...NOTHING, apiGroups: [group], resources: [resource], verbs: [verb], resourceNames: name })),
      ),
    ),
  );
  const onUrls = nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ ...NOTHING, nonResourceURLs: [url], verbs: [verb] })));
  return [...onResources, ...onUrls];
}

function covers(owner: AccessRule, small: AccessRule): boolean {
  const names = owner.resourceNames.length === 0 || small.resourceNames.some((name) => owner.resourceNames.includes(name));
  return (
    small.verbs.every((verb) => hasOrAll(owner.verbs, verb)) &&
    small.apiGroups.every((group) => hasOrAll(owner.apiGroups, group)) &&
    small.resources.every((resource) => coversResource(owner.resources, resource)) &&
    small.nonResourceURLs.every((url) => owner.nonResourceURLs.some((own) => ownerUrlCovers(own, url))) &&
    names
  );
}

function coversResource(owned: readonly string[], resource: string): boolean {
  const slash = resource.indexOf("/");
  return hasOrAll(owned, resource) || (slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`));
}

/** In this comparison only a star covers a star. */
function ownerUrlCovers(owned: string, url: string): boolean {
  return owned === url || (owned.endsWith("*") && url.startsWith(owned.replace(/\*+$/, "")));
}

/** Joins split rules of the same resource; URLs stay separate. */
export function compacted(rules: readonly AccessRule[]): readonly AccessRule[] {
  const bySubject = new Map<string, AccessRule>();
  for (const rule of rules) {
    const onUrl = rule.nonResourceURLs.length > 0;
    const key = JSON.stringify({ ...rule, verbs: onUrl ? rule.verbs : [] });
    const known = onUrl ? undefined : bySubject.get(key);
    bySubject.set(key, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...rule.verbs] });
  }
  return [...bySubject.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: AccessRule): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  const shown = parts.filter(([, values]) => values.length > 0).map(([name, values]) => `${name}:${goList(values)}`);
  return `{${shown.join(", ")}}`;
}

/** As Go's %q formats a list of strings. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
