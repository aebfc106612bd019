/**
 * Since when a service has had the hosts and paths of its routes, as recorded in its status. Tenants cannot write a status, so the record
 * decides between two services with the same host, also after a restart of the operator.
 */
import type { LatticeService, LatticeServiceStatus } from "#crds";

export type RouteRecord = NonNullable<LatticeServiceStatus["routes"]>;

type Held = ReadonlyMap<string, { readonly host: string; readonly path: string }>;

/** Undefined: the service has no routes, and the field is removed. */
export function routeRecord({ status }: Pick<LatticeService, "status">, held: Held, now: string): RouteRecord | undefined {
  if (held.size === 0) return undefined;
  const before = status?.routes ?? {};
  return Object.fromEntries(
    [...held].map(([resource, { host, path }]) => {
      const known = Object.hasOwn(before, resource) ? before[resource] : undefined;
      return [resource, { host, path, since: known?.host === host && known.path === path ? known.since : now }];
    }),
  );
}
