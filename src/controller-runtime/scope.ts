/**
 * The part of a cluster in which a manager works: all of it, or some namespaces. In some namespaces every list, watch and rule names one of them,
 * so that Roles suffice and no namespaced kind is granted cluster-wide.
 */
import type { Resource } from "#kube";

export type ManagerScope = {
  /** Where controllers read and write. */
  readonly namespaces: readonly string[];
  /** Kinds that are read in one more namespace, such as the operator's own. */
  readonly more?: readonly { readonly resource: Resource; readonly namespace: string }[];
};

/** The parameters of one list and its watch. */
export type Selection = { readonly namespace?: string; readonly fieldSelector?: string };

/** The key of a kind that is listed once, for the whole cluster. */
export const EVERYWHERE = "";

export function isNamespaceKind({ group, plural }: Resource): boolean {
  return group === "" && plural === "namespaces";
}

/** Whether the kind may come from a CustomResourceDefinition, which can be installed and removed at any time. Its group has a dot. */
export function isDefinedKind({ group }: Resource, optional: boolean): boolean {
  return group.includes(".") && (optional || !group.endsWith(".k8s.io"));
}

/** One per namespace, or one for the whole cluster: cluster-scoped kinds, except Namespaces, which are requested by name. */
export function selectionsOf(resource: Resource, scope: ManagerScope | undefined): ReadonlyMap<string, Selection> {
  if (scope === undefined) return new Map([[EVERYWHERE, {}]]);
  if (isNamespaceKind(resource)) {
    return new Map(scope.namespaces.map((name) => [name, { fieldSelector: `metadata.name=${name}` }]));
  }
  if (!resource.namespaced) return new Map([[EVERYWHERE, {}]]);
  const more = (scope.more ?? []).filter((one) => sameKind(one.resource, resource)).map(({ namespace }) => namespace);
  return new Map([...scope.namespaces, ...more].map((namespace) => [namespace, { namespace }]));
}

function sameKind(a: Resource, b: Resource): boolean {
  return a.group === b.group && a.plural === b.plural;
}
