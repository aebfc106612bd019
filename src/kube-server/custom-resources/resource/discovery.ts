/** The verbs of a custom resource in discovery, and the order of its versions. */
import { field, fieldAt } from "#kube";
import type { CrdVersion, Definition } from "../crd/definition.ts";

export const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"] as const;
/** Nothing can be created while the CRD is being deleted. */
const VERBS_WHILE_TERMINATING = ["delete", "deletecollection", "get", "list", "watch"];

export function verbsOf(definition: Definition): readonly string[] {
  const conditions = fieldAt(definition.object, "status", "conditions");
  const isTerminating =
    Array.isArray(conditions) && conditions.some((one) => field(one, "type") === "Terminating" && field(one, "status") === "True");
  return isTerminating ? VERBS_WHILE_TERMINATING : VERBS;
}

/** v2 before v1 before v1beta1 before v1alpha1 before other names; the first is the version that clients prefer. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  if (left === undefined || right === undefined) return left === right ? (a < b ? -1 : a > b ? 1 : 0) : left === undefined ? 1 : -1;
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor;
}

function rankOf(version: string): { readonly stability: number; readonly major: number; readonly minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (match === null) return undefined;
  return { stability: match[2] === "alpha" ? 0 : match[2] === "beta" ? 1 : 2, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}

/** The warning for requests to a deprecated version; undefined for other versions. */
export function deprecationWarning(definition: Definition, version: CrdVersion): string | undefined {
  if (!version.deprecated) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names } = definition;
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  const better = definition.versions
    .filter((other) => other.served && !other.deprecated && compareVersions(other.name, version.name) < 0)
    .toSorted((x, y) => compareVersions(x.name, y.name))[0];
  return better === undefined ? text : `${text}; use ${group}/${better.name} ${names.kind}`;
}
