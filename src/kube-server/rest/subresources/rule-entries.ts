/** The rules of a user, in the form of a SelfSubjectRulesReview: resource rules and non-resource rules. */
import type { JsonObject } from "#kube";
import type { AccessRule } from "../../auth/index.ts";

export function ruleEntries(rules: readonly AccessRule[]): {
  readonly resourceRules: readonly JsonObject[];
  readonly nonResourceRules: readonly JsonObject[];
} {
  const resourceRules = rules
    .filter(({ resources }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length === 0 ? {} : { resourceNames }),
    }));
  const nonResourceRules = rules
    .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return { resourceRules, nonResourceRules };
}
