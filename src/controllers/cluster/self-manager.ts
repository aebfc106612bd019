/**
 * Objects that a cluster's operator keeps for its own cluster: the Service in front of its cell, and the addresses that Cilium gives to Services.
 *
 * They belong to the cluster itself and not to its parent, so they are applied here, from its own LatticeCluster. Their owner is ConfigMap lattice-identity and not that
 * resource: a deletion of it in the foreground would begin with its dependents, and the deletion of a cell waits for its children, which need the Service.
 */
import { ok } from "#base";
import { defineController, nothing, watch, type Plan } from "#controller-runtime";
import { latticeClusters, type LatticeCluster } from "#crds";
import {
  ciliumL2AnnouncementPolicies,
  ciliumLoadBalancerIpPools,
  configMaps,
  secretsByMetadata,
  services,
  type ConfigMap,
  type KubeObject,
} from "#kube";
import { identityOf } from "./identity.ts";
import { IDENTITY_CONFIG_MAP } from "./names.ts";
import { addressPoolObjects, cellService } from "./own-objects.ts";

/** Absent: nothing is known about the cluster. */
type ObservedSelf =
  | {
      /** Undefined: there is none, or none any more. */
      readonly cluster: LatticeCluster | undefined;
      readonly home: string;
      readonly servesPools: boolean;
      readonly servesAnnouncements: boolean;
    }
  | undefined;

export type SelfManagerShared = {
  /** The operator's namespace. */
  readonly home: string;
};

export const selfManagerController = defineController<ConfigMap, ObservedSelf, never, SelfManagerShared>({
  name: "self-manager",
  reconciles: configMaps,
  selects: ({ metadata: { name } }) => name === IDENTITY_CONFIG_MAP,
  owns: [services, ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  watches: [
    watch(
      latticeClusters,
      ({ metadata: { name } }, { cache, home }) =>
        name === identityOf(cache, home).name ? [{ namespace: home, name: IDENTITY_CONFIG_MAP }] : [],
      { ignoresStatus: true },
    ),
  ],
  reads: [secretsByMetadata],
  optional: [ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  writesStatus: false,
  observe: ({ metadata }, { cache, home }) => {
    const { name, own: cluster } = identityOf(cache, home);
    const isInvalid = cluster === undefined && name !== undefined && cache.get(latticeClusters, { name }) !== undefined;
    if (metadata.namespace !== home || isInvalid) return Promise.resolve(ok(undefined));
    const servesPools = cache.isServed(ciliumLoadBalancerIpPools);
    const servesAnnouncements = cache.isServed(ciliumL2AnnouncementPolicies);
    return Promise.resolve(ok({ cluster, home, servesPools, servesAnnouncements }));
  },
  plan: (_raw, observed) => (observed === undefined ? nothing : ok(planOf(observed))),
});

function planOf({ cluster, home, servesPools, servesAnnouncements }: NonNullable<ObservedSelf>): Plan<never> {
  const isServed = ({ kind }: KubeObject) => (kind === ciliumLoadBalancerIpPools.kind ? servesPools : servesAnnouncements);
  const apply = cluster === undefined ? [] : [...cellService(cluster, home), ...addressPoolObjects(cluster).filter(isServed)];
  return { apply, prune: true, commands: [] };
}
