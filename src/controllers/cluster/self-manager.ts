/**
 * Objects that a cluster's operator keeps for its own cluster: the Service in front of its cell, and the addresses that Cilium gives to Services.
 *
 * They belong to the cluster itself and not to its parent, so they are applied here, from its own LatticeCluster. The status of that resource is
 * written by the cluster controller, which observes them.
 */
import { ok } from "#base";
import { defineController, nothing, type Plan } from "#controller-runtime";
import { latticeClusters, parseLatticeCluster, type LatticeCluster } from "#crds";
import { ciliumL2AnnouncementPolicies, ciliumLoadBalancerIpPools, configMaps, services, type KubeObject } from "#kube";
import { identityOf } from "./identity.ts";
import { addressPoolObjects, cellService } from "./own-objects.ts";

type ObservedSelf =
  | { readonly cluster: LatticeCluster; readonly home: string; readonly servesPools: boolean; readonly servesAnnouncements: boolean }
  | undefined;

export type SelfManagerShared = {
  /** The operator's namespace. */
  readonly home: string;
};

export const selfManagerController = defineController<LatticeCluster, ObservedSelf, never, SelfManagerShared>({
  name: "self-manager",
  reconciles: latticeClusters,
  owns: [services, ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  reads: [configMaps],
  optional: [ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  writesStatus: false,
  observe: (raw, { cache, home }) => {
    // a cell has thousands of others
    if (identityOf(cache, home).name !== raw.metadata.name) return Promise.resolve(ok(undefined));
    const parsed = parseLatticeCluster(raw);
    if (!parsed.ok) return Promise.resolve(ok(undefined));
    const servesPools = cache.isServed(ciliumLoadBalancerIpPools);
    const servesAnnouncements = cache.isServed(ciliumL2AnnouncementPolicies);
    return Promise.resolve(ok({ cluster: parsed.value, home, servesPools, servesAnnouncements }));
  },
  plan: (_raw, observed) => (observed === undefined ? nothing : ok(planOf(observed))),
});

function planOf({ cluster, home, servesPools, servesAnnouncements }: NonNullable<ObservedSelf>): Plan<never> {
  const isServed = ({ kind }: KubeObject) => (kind === ciliumLoadBalancerIpPools.kind ? servesPools : servesAnnouncements);
  const apply = [...cellService(cluster, home), ...addressPoolObjects(cluster).filter(isServed)];
  return { apply, prune: true, commands: [] };
}
