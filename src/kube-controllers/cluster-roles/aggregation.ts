/**
 * ClusterRoles with an aggregationRule get the rules of the roles that it selects.
 *
 * Any change of any role triggers all aggregated roles: there are few of them, so their selectors are not evaluated first.
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
  // one at a time, and each after the cache has the last write: two roles that aggregate each other would otherwise swap their rules forever
  const queue = context.work({ name: "cluster-role-aggregation", concurrency: 1, pass });
  let unseen: { readonly name: string; readonly resourceVersion: string } | undefined;

  async function pass(name: string, signal: AbortSignal): Promise<Pass> {
    const role = roles.get({ name });
    if (role?.aggregationRule === undefined || unseen !== undefined) return done;
    const rules = aggregated(role, roles.list());
    if (jsonEqual(rules, role.rules ?? [])) return done;
    const { apiVersion, kind } = role;
    // no role selected: rules that other clients wrote stay
    const found = rules.length === 0 ? {} : { rules };
    const applied: KubeObject & Partial<Pick<ClusterRole, "rules">> = { apiVersion, kind, metadata: { name }, ...found };
    const answer = await client.apply(clusterRoles, applied, { fieldManager: FIELD_MANAGER, force: true, signal });
    if (answer.ok) expect(name, answer.value.metadata.resourceVersion ?? "");
    return passOf(answer);
  }

  /** A write is also a change, which triggers all of them again. */
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

/** Compared as text: resource versions may exceed the precision of a number. */
function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** In the order of the selectors, then of the role names; each rule once. */
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
