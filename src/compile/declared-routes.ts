/** The hosts and paths that the routes of a service claim, whether or not another service holds them. */
import type { LatticeService } from "#crds";
import { keyText } from "#kube";
import { canHaveRoute, resolveDeclarations, type ServiceInput } from "#service-compiler";
import type { RouteClaim } from "./route-claims.ts";

export function routeClaimsOf(service: LatticeService, input: ServiceInput): readonly RouteClaim[] {
  if (!Object.values(service.spec.resources ?? {}).some(({ type }) => canHaveRoute(input.registry, type))) return [];
  const { provisioned } = resolveDeclarations({ ...input, routeHolder: () => undefined });
  return [...provisioned].flatMap(([resource, { route }]): readonly RouteClaim[] => {
    if (route === undefined) return [];
    const { host, path } = route;
    const since = heldSince(service, resource, { host, path });
    return [{ key: keyText(service.metadata), resource, host, path, since, made: service.metadata.creationTimestamp ?? "" }];
  });
}

/** When the status recorded this host and path first; "": it is not recorded. */
function heldSince({ status }: LatticeService, resource: string, { host, path }: Pick<RouteClaim, "host" | "path">): string {
  const recorded = status?.routes ?? {};
  const known = Object.hasOwn(recorded, resource) ? recorded[resource] : undefined;
  return known?.host === host && known.path === path ? known.since : "";
}
