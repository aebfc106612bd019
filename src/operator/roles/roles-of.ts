/** Which roles the operator has, by what it finds in its cluster. Pure. */
import type { OwnIdentity } from "#controllers";

export const OPERATOR_ROLES = ["cell", "agent", "self-manager"] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/**
 * cell: its own LatticeCluster has endpoints, or had them when it got the children that it has. agent: it has a parent. self-manager: it has a name,
 * and keeps the objects of its own LatticeCluster, which it deletes after it.
 */
export function rolesOf({ name, endpoints, hasParent }: OwnIdentity): ReadonlySet<OperatorRole> {
  const roles: OperatorRole[] = [];
  if (endpoints !== undefined) roles.push("cell");
  if (hasParent) roles.push("agent");
  if (name !== undefined) roles.push("self-manager");
  return new Set(roles);
}
