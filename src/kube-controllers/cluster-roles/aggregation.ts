/**
 * ClusterRoles with an aggregationRule get the rules of those that it selects.
 *
 * Any change of any role brings all that aggregate: which selects which is not worth knowing, for there are few of them.
 */
import { clusterRoles, jsonEqual, matches, requirementsOf, type ClusterRole, type KubeObject, type PolicyRule } from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

export const clusterRoleAggregation: KubeController = { name: "clusterrole-aggregation-controller", start };

const FIELD_MANAGER = "clusterrole-aggregation-controller";
const AGGREGATES = "aggregates";

function start(context: KubeControllerContext): void {
  const { informers, client } = context;
  const roles = informers.of(clusterRoles);
  roles.addIndex(AGGREGATES, (role) => (role.aggregationRule === undefined ? [] : ["yes"]));
  // one after the other, and none before it sees what the last one wrote: two that gather from each other would exchange their rules for ever
  const queue = context.work({ name: "cluster-role-aggregation", concurrency: 1, pass });
  let unseen: { readonly name: string; readonly resourceVersion: string } | undefined;

  async function pass(name: string, signal: AbortSignal): Promise<Pass> {
    const role = roles.get({ name });
    if (role?.aggregationRule === undefined || unseen !== undefined) return done;
    const rules = aggregated(role, roles.list());
    if (jsonEqual(rules, role.rules ?? [])) return done;
    const { apiVersion, kind } = role;
    // nothing found says nothing: what others have written there stays
    const found = rules.length === 0 ? {} : { rules };
    const applied: KubeObject & Partial<Pick<ClusterRole, "rules">> = { apiVersion, kind, metadata: { name }, ...found };
    const answer = await client.apply(clusterRoles, applied, { fieldManager: FIELD_MANAGER, force: true, signal });
    if (answer.ok) expect(name, answer.value.metadata.resourceVersion ?? "");
    return passOf(answer);
  }

  /** What is written comes back as a change, which brings all of them again. */
  function expect(name: string, resourceVersion: string): void {
    const seen = roles.get({ name });
    if (seen !== undefined && isOlder(seen.metadata.resourceVersion ?? "", resourceVersion)) unseen = { name, resourceVersion };
  }

  informers.subscribe(clusterRoles, ({ key, after }) => {
    if (unseen?.name === key.name && !isOlder(after?.metadata.resourceVersion ?? unseen.resourceVersion, unseen.resourceVersion)) {
      unseen = undefined;
    }
    for (const { metadata } of roles.byIndex(AGGREGATES, "yes")) queue.add(metadata.name);
  });
}

/** Versions are counters in text, too long for a number. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** In the order of the selectors, then of the roles' names; each rule once. */
export function aggregated(role: ClusterRole, roles: readonly ClusterRole[]): readonly PolicyRule[] {
  const others = roles
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const requirements = requirementsOf(selector);
    const selected = others.filter(({ metadata }) => matches(requirements, metadata.labels));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
