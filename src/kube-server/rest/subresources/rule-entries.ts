/** The rules that somebody holds, as a SelfSubjectRulesReview lists them: those about resources and those about paths. */
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
