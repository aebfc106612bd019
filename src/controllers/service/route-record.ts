/**
 * Since when a service has had the hosts and paths of its routes, as its status records it. Tenants cannot write a status, so the record
 * decides between two services that want the same host, also after a restart of the operator.
 */
import type { LatticeService, LatticeServiceStatus } from "#crds";

export type RouteRecord = NonNullable<LatticeServiceStatus["routes"]>;

type Held = ReadonlyMap<string, { readonly host: string; readonly path: string }>;

/** Undefined: it has none, and the field is taken away. */
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
