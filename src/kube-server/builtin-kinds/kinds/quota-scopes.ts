/** Scopes of a ResourceQuota: which there are, which of them go together, and with which amounts. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { entriesAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { type Causes, immutable, invalid, required } from "../rules/causes.ts";

const COMPUTE = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const ofPods = new Set(["pods", ...COMPUTE]);
const ofClaims = new Set(["persistentvolumeclaims", "requests.storage"]);

/** What may be counted under each scope. */
const SCOPES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Terminating", ofPods],
  ["NotTerminating", ofPods],
  ["BestEffort", new Set(["pods"])],
  ["NotBestEffort", ofPods],
  ["PriorityClass", ofPods],
  ["CrossNamespacePodAffinity", ofPods],
  ["VolumeAttributesClass", ofClaims],
]);
const OPPOSITES = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;
const WITHOUT_VALUES = new Set(["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"]);

export const QUOTA_RESOURCES = new Set([
  ...COMPUTE,
  ..."ephemeral-storage requests.storage requests.ephemeral-storage limits.ephemeral-storage pods resourcequotas services replicationcontrollers secrets persistentvolumeclaims configmaps services.nodeports services.loadbalancers".split(
    " ",
  ),
]);

export function validateScopes(quota: KubeObject): Causes {
  const scopes = textsAt(quota, "spec", "scopes");
  const path = "spec.scopes";
  return [
    ...scopes.flatMap((scope) => [
      ...(SCOPES.has(scope) ? [] : [invalid(path, [...scopes], "unsupported scope")]),
      ...misfits(quota, scope).map(() => invalid(path, [...scopes], "unsupported scope applied to resource")),
    ]),
    ...(contradict(scopes) ? [invalid(path, [...scopes], "conflicting scopes")] : []),
    ...validateSelector(quota),
  ];
}

/** Standard amounts that mean nothing under a scope. */
function misfits(quota: KubeObject, scope: string): readonly string[] {
  const fitting = SCOPES.get(scope);
  const names = entriesAt(quota, "spec", "hard").map(([name]) => name);
  return fitting === undefined ? [] : names.filter((name) => QUOTA_RESOURCES.has(name) && !fitting.has(name));
}

function contradict(scopes: readonly string[]): boolean {
  return OPPOSITES.some((pair) => pair.every((scope) => scopes.includes(scope)));
}

function validateSelector(quota: KubeObject): Causes {
  const path = "spec.scopeSelector.matchExpressions";
  const wanted = objectsAt(quota, "spec", "scopeSelector", "matchExpressions");
  const shown = objectAt(quota, "spec", "scopeSelector") ?? null;
  return [
    ...wanted.flatMap((requirement) => [
      ...(SCOPES.has(textAt(requirement, "scopeName"))
        ? []
        : [invalid(`${path}.scopeName`, textAt(requirement, "scopeName"), "unsupported scope")]),
      ...misfits(quota, textAt(requirement, "scopeName")).map(() => invalid(path, shown, "unsupported scope applied to resource")),
      ...validateRequirement(requirement, path),
    ]),
    ...(contradict(wanted.map((requirement) => textAt(requirement, "scopeName"))) ? [invalid(path, null, "conflicting scopes")] : []),
  ];
}

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateRequirement(requirement: JsonObject, path: string): Causes {
  const [operator, values] = [textAt(requirement, "operator"), textsAt(requirement, "values")];
  const valueless = WITHOUT_VALUES.has(textAt(requirement, "scopeName")) && operator !== "Exists";
  return [...(valueless ? [invalid(`${path}.operator`, operator, ONLY_EXISTS)] : []), ...validateValues(operator, values, path)];
}

function validateValues(operator: string, values: readonly string[], path: string): Causes {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0
        ? []
        : [required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0
        ? []
        : [invalid(`${path}.values`, [...values], "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")];
    default:
      return [invalid(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

export function sameScopes(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [next, previous].map((quota) => [...new Set(textsAt(quota, "spec", "scopes"))].toSorted()) as [string[], string[]];
  return jsonEqual(now, before) ? [] : [immutable("spec.scopes", [...textsAt(next, "spec", "scopes")])];
}
