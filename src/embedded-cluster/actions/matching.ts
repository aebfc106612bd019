/**
 * Selects actions: the same fields select the actions of an interceptor and of a filter on the log.
 *
 * Resources are written as RBAC writes them: "pods" is the object itself, "pods/status" its status, "pods/*" both. A name without a group
 * matches every group.
 */
import { groupResourceOf, type Resource } from "#kube";
import { listOf } from "../list-of.ts";
import type { Action, ActionVerb } from "./action.ts";

/**
 * Selects actions; an absent field matches every action.
 *
 * @example { verb: "update", resource: "deployments/status", namespace: "shop" }
 */
export type ActionMatch = {
  readonly verb?: ActionVerb | readonly ActionVerb[];
  /** "pods", "deployments.apps", "deployments/scale", "widgets/*", "*", or a Resource. */
  readonly resource?: string | Resource | readonly (string | Resource)[];
  readonly namespace?: string;
  readonly name?: string;
  /** The name of the user. It can select the cluster's own controllers too: they are `system:kube-controller-manager`. */
  readonly user?: string;
  /** Any other condition. */
  readonly when?: (action: Action) => boolean;
};

export function actionMatches(match: ActionMatch, action: Action): boolean {
  const { verb, resource, namespace, name, user, when } = match;
  if (verb !== undefined && !listOf(verb).includes(action.verb)) return false;
  if (resource !== undefined && !listOf(resource).some((one) => isResource(one, action))) return false;
  if (namespace !== undefined && action.namespace !== namespace) return false;
  if (name !== undefined && action.name !== name) return false;
  if (user !== undefined && action.user.name !== user) return false;
  return when === undefined || when(action);
}

function isResource(wanted: string | Resource, { resource, subresource }: Action): boolean {
  if (resource === undefined) return false;
  if (typeof wanted !== "string") return subresource === undefined && sameResource(wanted, resource);
  if (wanted === "*") return true;
  const [plural = "", below] = wanted.split("/");
  if (plural !== "*" && plural !== resource.plural && plural !== groupResourceOf(resource)) return false;
  return below === "*" || below === subresource;
}

function sameResource(a: Resource, b: Resource): boolean {
  return a.group === b.group && a.version === b.version && a.plural === b.plural;
}
