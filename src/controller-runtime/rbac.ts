/**
 * RBAC from the declarations of controllers and services: no role is written by hand, so no rule is missing and no verb is granted that none of
 * them uses. Roles of a manager that are not active count too: they may be started at any time.
 *
 * Pure and deterministic: rules are merged and sorted, so that the generated chart changes only when a declaration does.
 */
import { customResourceDefinitions, type KubeObject } from "#kube";
import { KEPT_KINDS } from "./identity.ts";
import type { ControllerDeclaration } from "./controller.ts";
import type { Need } from "./need.ts";
import type { LeaderServiceDeclaration } from "./roles/leader-service.ts";
import { isDefinedKind, isNamespaceKind, type ManagerScope } from "./scope.ts";

export type RbacRule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

export type RbacOptions = {
  /** Name of the service account and of the roles. */
  readonly name: string;
  /** The namespace of the service account: the operator's own. */
  readonly namespace: string;
  /** Name of cluster-scoped objects, so that two operators do not share them; absent: `name`. */
  readonly clusterName?: string;
  /** The Lease that replicas compete for; absent: `name`. */
  readonly leaseName?: string;
  /** Absent: the whole cluster, by one ClusterRole. Otherwise a Role in each of these namespaces, and a ClusterRole for cluster-scoped kinds. */
  readonly scope?: ManagerScope | undefined;
  /** Permissions in `namespace` beyond the Lease when there is a scope. */
  readonly homeRules?: readonly RbacRule[];
};

const WATCH = ["list", "watch"];
/** Applying an object that does not exist needs create as well as patch. */
const OWN = [...WATCH, "get", "create", "patch"];
/** The namespace of events about cluster-scoped objects. */
const EVENTS_OF_CLUSTER_OBJECTS = "default";

/** What needs permissions: a controller, or a service of the leader. */
export type PartDeclaration = ControllerDeclaration | LeaderServiceDeclaration;

export function rbacFor(parts: readonly PartDeclaration[], options: RbacOptions): readonly KubeObject[] {
  const { name, namespace, scope } = options;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  const needs = parts.flatMap((part) => ("reconciles" in part ? needsOfController(part) : needsOfService(part)));
  const definitions = parts.some(readsDefinedKinds) ? [ruleOf({ resource: customResourceDefinitions, verbs: WATCH })] : [];
  const cluster = scope === undefined ? [...needs.map(ruleOf), ...definitions, EVENTS] : clusterRules(needs, scope);
  const home = [
    ...leaseRules(options),
    ...parts.flatMap((part) => ("homePermissions" in part ? (part.homePermissions ?? []) : [])).map(ruleOf),
  ];
  const roles = scope === undefined ? new Map([[namespace, home]]) : namespaceRules(needs, scope, { ...options, home });
  const paths = scope === undefined ? parts.flatMap((part) => ("paths" in part ? (part.paths ?? []) : [])).toSorted() : [];
  return [
    account,
    ...grant({ rules: cluster, paths }, undefined, options),
    ...[...roles].flatMap(([where, rules]) => grant({ rules, paths: [] }, where, options)),
  ];
}

export type AccountOptions = Pick<RbacOptions, "name" | "namespace" | "clusterName"> & {
  readonly needs: readonly Need[];
  readonly paths: readonly string[];
};

/** A ServiceAccount with permissions in the whole cluster, for another program than the operator. */
export function rbacForAccount({ needs, paths, ...options }: AccountOptions): readonly KubeObject[] {
  const { name, namespace } = options;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  return [account, ...grant({ rules: needs.map(ruleOf), paths }, undefined, options)];
}

type Granted = { readonly rules: readonly RbacRule[]; readonly paths: readonly string[] };

/** A role and its binding, in a namespace or for the whole cluster. */
function grant({ rules, paths }: Granted, where: string | undefined, options: RbacOptions): readonly KubeObject[] {
  const { namespace } = options;
  const prefix = where === undefined ? "Cluster" : "";
  const name = where === undefined ? (options.clusterName ?? options.name) : options.name;
  const head = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: where === undefined ? { name } : { name, namespace: where } };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: `${prefix}Role`, name };
  const subjects = [{ kind: "ServiceAccount", name: options.name, namespace }];
  const ofPaths = paths.length === 0 ? [] : [{ nonResourceURLs: [...new Set(paths)], verbs: ["get"] }];
  const objects = [
    { ...head, kind: `${prefix}Role`, rules: [...mergeRules(rules), ...ofPaths] },
    { ...head, kind: `${prefix}RoleBinding`, roleRef, subjects },
  ];
  return objects;
}

const EVENTS: RbacRule = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] };

/** `create` cannot be limited to a name: the authorizer does not know the name then. */
function leaseRules({ name, leaseName = name }: RbacOptions): readonly RbacRule[] {
  const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  return [
    { ...lease, verbs: ["create"] },
    { ...lease, verbs: ["get", "update"], resourceNames: [leaseName] },
  ];
}

/** Cluster-scoped kinds. Namespaces only by name, and none can be created: that cannot be limited to a name. */
function clusterRules(needs: readonly Need[], { namespaces }: ManagerScope): readonly RbacRule[] {
  return needs
    .filter(({ resource }) => !resource.namespaced)
    .map((need) => {
      if (!isNamespaceKind(need.resource)) return ruleOf(need);
      return { ...ruleOf({ ...need, verbs: need.verbs.filter((verb) => verb !== "create") }), resourceNames: namespaces };
    })
    .filter(({ verbs }) => verbs.length > 0);
}

/** By namespace: those of the controllers, the operator's own, and the one of events about cluster-scoped objects. */
function namespaceRules(
  needs: readonly Need[],
  scope: ManagerScope,
  options: RbacOptions & { readonly home: readonly RbacRule[] },
): ReadonlyMap<string, readonly RbacRule[]> {
  const work = [...needs.filter(({ resource }) => resource.namespaced).map(ruleOf), EVENTS];
  const home = [...options.home, ...(options.homeRules ?? [])];
  const all: readonly (readonly [string, readonly RbacRule[]])[] = [
    ...scope.namespaces.map((namespace) => [namespace, work] as const),
    [options.namespace, home],
    ...(scope.more ?? []).map(({ namespace, resource }) => [namespace, [ruleOf({ resource, verbs: WATCH })]] as const),
    [EVENTS_OF_CLUSTER_OBJECTS, [EVENTS]],
  ];
  const byNamespace = new Map<string, readonly RbacRule[]>();
  for (const [namespace, rules] of all) byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), ...rules]);
  return byNamespace;
}

/** Definitions are watched, so that their kinds are noticed at once. Not within a scope: there, missing kinds are asked for again and again. */
function readsDefinedKinds(part: PartDeclaration): boolean {
  const { reads = [], optional = [] } = part;
  const { reconciles, owns = [], watches = [] } = "reconciles" in part ? part : { reconciles: [] };
  const all = [reconciles, owns, watches.map(({ resource }) => resource), reads].flat();
  return all.some((resource) => isDefinedKind(resource, optional.includes(resource)));
}

function needsOfController(controller: ControllerDeclaration): readonly Need[] {
  const { reconciles, owns = [], watches = [], reads = [], permissions = [], finalizer, writesStatus, ownerReferences } = controller;
  const status: readonly Need[] = writesStatus === false ? [] : [{ resource: reconciles, subresource: "status", verbs: ["update"] }];
  // allows blockOwnerDeletion on owned objects, where that is enforced
  const unblocking = owns.length === 0 || ownerReferences === "none";
  const blocking: readonly Need[] = unblocking ? [] : [{ resource: reconciles, subresource: "finalizers", verbs: ["update"] }];
  const watched = [...watches.map(({ resource }) => resource), ...reads];
  return [
    { resource: reconciles, verbs: [...WATCH, "get", ...(finalizer === undefined ? [] : ["patch"])] },
    ...status,
    ...blocking,
    ...owns.map((resource) => ({ resource, verbs: KEPT_KINDS.has(resource.kind) ? OWN : [...OWN, "delete"] })),
    ...watched.map((resource) => ({ resource, verbs: WATCH })),
    ...permissions,
  ];
}

function needsOfService({ reads = [], permissions = [] }: LeaderServiceDeclaration): readonly Need[] {
  return [...reads.map((resource) => ({ resource, verbs: WATCH })), ...permissions];
}

function ruleOf({ resource, subresource, verbs, names }: Need): RbacRule {
  const name = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  return { apiGroups: [resource.group], resources: [name], verbs, ...(names === undefined ? {} : { resourceNames: names }) };
}

/** One line per resource with all its verbs, then one rule per group and set of verbs. */
export function mergeRules(rules: readonly RbacRule[]): readonly RbacRule[] {
  const lines = new Map<string, Line>();
  for (const { apiGroups, resources, verbs, resourceNames = [] } of rules) {
    for (const [group, resource] of apiGroups.flatMap((group) => resources.map((resource) => [group, resource] as const))) {
      const names = resourceNames.toSorted();
      const id = JSON.stringify([group, resource, names.join()]);
      const known = lines.get(id)?.verbs ?? [];
      lines.set(id, { group, resource, names, verbs: [...new Set([...known, ...verbs])].toSorted() });
    }
  }
  const merged = new Map<string, RbacRule>();
  for (const [, { group, resource, names, verbs }] of [...lines].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const id = JSON.stringify([group, verbs, names]);
    const resources = [...(merged.get(id)?.resources ?? []), resource];
    merged.set(id, { apiGroups: [group], resources, verbs, ...(names.length === 0 ? {} : { resourceNames: names }) });
  }
  return [...merged.values()];
}

type Line = { readonly group: string; readonly resource: string; readonly names: readonly string[]; readonly verbs: readonly string[] };
