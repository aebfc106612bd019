/**
 * RBAC from what controllers declare: nobody writes a role by hand, so nobody forgets one or grants too much.
 *
 * Pure and deterministic: rules are merged and sorted, so that the generated chart changes only when a controller does.
 */
import type { KubeObject, Resource } from "#kube";
import type { Declaration } from "./controller.ts";

export type PolicyRule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

export type RbacOptions = {
  /** Of the service account and of everything made here. */
  readonly name: string;
  readonly namespace: string;
  /** The Lease that replicas compete for; absent: the same name. */
  readonly leaseName?: string;
};

const READ = ["get", "list", "watch"];
/** Applying an object that is not there needs create as well as patch. */
const OWN = [...READ, "create", "patch", "delete"];

export function rbacFor(controllers: readonly Declaration[], options: RbacOptions): readonly KubeObject[] {
  const { name, namespace } = options;
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" };
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  const objects = [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    { ...rbac, kind: "ClusterRole", metadata: { name }, rules: mergeRules([...controllers.flatMap(rulesOf), EVENTS]) },
    { ...rbac, kind: "ClusterRoleBinding", metadata: { name }, roleRef: roleRef("ClusterRole"), subjects },
    { ...rbac, kind: "Role", metadata: { name, namespace }, rules: leaseRules(options.leaseName ?? name) },
    { ...rbac, kind: "RoleBinding", metadata: { name, namespace }, roleRef: roleRef("Role"), subjects },
  ];
  return objects;
}

const EVENTS: PolicyRule = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] };

/** `create` cannot be limited to a name: the name is not known to the authoriser then. */
function leaseRules(name: string): readonly PolicyRule[] {
  const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  return mergeRules([
    { ...lease, verbs: ["create"] },
    { ...lease, verbs: ["get", "update"], resourceNames: [name] },
  ]);
}

function rulesOf(controller: Declaration): readonly PolicyRule[] {
  const { reconciles, owns = [], watches = [], reads = [], permissions = [], finalizer } = controller;
  return [
    rule(reconciles, finalizer === undefined ? READ : [...READ, "patch"]),
    ...(controller.writesStatus === false ? [] : [rule(reconciles, ["update"], "status")]),
    // lets us set blockOwnerDeletion on what we own, where that is enforced
    rule(reconciles, ["update"], "finalizers"),
    ...owns.map((resource) => rule(resource, OWN)),
    ...watches.map((watch) => rule(watch.resource, READ)),
    ...reads.map((resource) => rule(resource, READ)),
    ...permissions,
  ];
}

function rule(resource: Resource, verbs: readonly string[], subresource?: string): PolicyRule {
  const name = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  return { apiGroups: [resource.group], resources: [name], verbs };
}

/** One line per resource with all its verbs, then one rule per group and set of verbs. */
export function mergeRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const lines = new Map<string, Line>();
  for (const { apiGroups, resources, verbs, resourceNames = [] } of rules) {
    for (const [group, resource] of apiGroups.flatMap((group) => resources.map((resource) => [group, resource] as const))) {
      const names = resourceNames.toSorted();
      const id = JSON.stringify([group, resource, names.join()]);
      const known = lines.get(id)?.verbs ?? [];
      lines.set(id, { group, resource, names, verbs: [...new Set([...known, ...verbs])].toSorted() });
    }
  }
  const merged = new Map<string, PolicyRule>();
  for (const [, { group, resource, names, verbs }] of [...lines].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const id = JSON.stringify([group, verbs, names]);
    const resources = [...(merged.get(id)?.resources ?? []), resource];
    merged.set(id, { apiGroups: [group], resources, verbs, ...(names.length === 0 ? {} : { resourceNames: names }) });
  }
  return [...merged.values()];
}

type Line = { readonly group: string; readonly resource: string; readonly names: readonly string[]; readonly verbs: readonly string[] };
