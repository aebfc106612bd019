/**
 * Uses without a grant: another namespace's database, a host that the environment does not grant, or one that another
 * service holds. The provisioned result is checked, so that the check covers every type.
 */
import { howToGrant, mayClaimHost } from "../grants/index.ts";
import type { Provisioned, ProvisionRequest } from "./provisioner.ts";

/** The message for the first use without a grant; undefined: none. */
export function notGranted(made: Provisioned, request: ProvisionRequest): string | undefined {
  return foreignPeer(made, request) ?? foreignHost(made, request) ?? takenRoute(made, request);
}

function foreignPeer({ peer }: Provisioned, { surroundings: { namespace, grants } }: ProvisionRequest): string | undefined {
  const there = peer?.address.namespace ?? namespace;
  if (there === namespace || grants.crossNamespace.includes(there)) return undefined;
  const remedy = howToGrant(grants, there, "spec.crossNamespace");
  return `id names namespace ${there}, and this service runs in ${namespace}\n${remedy}, or name a resource of ${namespace}`;
}

function foreignHost({ route }: Provisioned, { surroundings: { ingressDomain, grants } }: ProvisionRequest): string | undefined {
  if (route === undefined || mayClaimHost(route.host, { ingressDomain, hosts: grants.hosts })) return undefined;
  const below = ingressDomain === undefined ? "" : `use a host below ${ingressDomain}, or `;
  return `host ${route.host} is not granted\n${below}${howToGrant(grants, route.host, "spec.routes.hosts")}`;
}

function takenRoute({ route }: Provisioned, { name, surroundings }: ProvisionRequest): string | undefined {
  const holder = route === undefined ? undefined : surroundings.routeHolder(name);
  if (route === undefined || holder === undefined) return undefined;
  return `${holder} already claims host ${route.host} with path ${route.path}, or part of it\nuse another host or path`;
}
