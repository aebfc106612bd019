/**
 * Objects that a cluster's operator keeps for its own cluster: the Service in front of its cell, the record of the addresses that it has served, and the addresses that
 * Cilium gives to Services.
 *
 * They belong to the cluster itself and not to its parent, so they are applied here, from its own LatticeCluster. Their owner is ConfigMap lattice-identity and not that
 * resource: a deletion of it in the foreground would begin with its dependents, and the deletion of a cell waits for its children, which need the Service.
 */
import { ok } from "#base";
import { defineController, nothing, watch, type CacheReader, type Plan } from "#controller-runtime";
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
import { followAgents } from "./agent-changes.ts";
import { identityOf } from "./identity.ts";
import { CELL_ENDPOINTS_CONFIG_MAP, IDENTITY_CONFIG_MAP } from "./names.ts";
import { addressPoolObjects, cellService } from "./own-objects.ts";
import type { CellSlot } from "./ports.ts";
import { childrenWithFormerAddress, endpointsData, type ServedEndpoints } from "./served-endpoints.ts";

/** Absent: nothing is known about the cluster. */
type ObservedSelf =
  | {
      /** Undefined: there is none, or none any more. */
      readonly cluster: LatticeCluster | undefined;
      /** Undefined: it is no cell. */
      readonly endpoints: ServedEndpoints | undefined;
      readonly home: string;
      readonly servesPools: boolean;
      readonly servesAnnouncements: boolean;
    }
  | undefined;

export type SelfManagerShared = {
  /** The operator's namespace. */
  readonly home: string;
  readonly cell: CellSlot;
};

export const selfManagerController = defineController<ConfigMap, ObservedSelf, never, SelfManagerShared>({
  name: "self-manager",
  reconciles: configMaps,
  selects: ({ metadata: { name } }) => name === IDENTITY_CONFIG_MAP,
  owns: [services, configMaps, ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  watches: [
    watch(
      latticeClusters,
      ({ metadata: { name } }, { cache, home }) => {
        const { name: own, endpoints } = identityOf(cache, home);
        // the former addresses are served as long as there are children
        return name === own || endpoints === undefined || mayShrink(endpoints) ? [identityKey(home)] : [];
      },
      { ignoresStatus: true },
    ),
  ],
  reads: [secretsByMetadata],
  optional: [ciliumLoadBalancerIpPools, ciliumL2AnnouncementPolicies],
  writesStatus: false,
  oneOwner: true,
  // a child that has the present address now may be the last one that had a former one
  triggers: (enqueue, { home, cell }) => followAddresses(cell, () => enqueue(identityKey(home))),
  observe: ({ metadata }, { cache, home, cell }) => {
    const { name, own: cluster, endpoints } = identityOf(cache, home);
    const isInvalid = cluster === undefined && name !== undefined && cache.get(latticeClusters, { name }) !== undefined;
    if (metadata.namespace !== home || isInvalid) return Promise.resolve(ok(undefined));
    const servesPools = cache.isServed(ciliumLoadBalancerIpPools);
    const servesAnnouncements = cache.isServed(ciliumL2AnnouncementPolicies);
    const served = endpoints === undefined ? undefined : withoutUnused(endpoints, cache, { name, cell });
    return Promise.resolve(ok({ cluster, endpoints: served, home, servesPools, servesAnnouncements }));
  },
  plan: (_raw, observed) => (observed === undefined ? nothing : ok(planOf(observed))),
});

function identityKey(namespace: string) {
  return { namespace, name: IDENTITY_CONFIG_MAP };
}

/** Of thousands of agents, few report another address. */
function followAddresses(cell: CellSlot, changed: () => void): () => void {
  const seen = new Map<string, string>();
  return followAgents(cell, (cluster) => {
    const agent = cell.running?.link.agents().get(cluster);
    const text = agent?.connected === true ? (agent.health?.parentAddresses ?? []).join(" ") : "";
    if ((seen.get(cluster) ?? "") === text) return;
    seen.set(cluster, text);
    changed();
  });
}

function mayShrink({ former, isRemoved }: ServedEndpoints): boolean {
  return isRemoved || former.length > 0;
}

function withoutUnused(
  endpoints: ServedEndpoints,
  cache: CacheReader,
  { name, cell }: { readonly name: string | undefined; readonly cell: CellSlot },
): ServedEndpoints {
  if (endpoints.former.length === 0) return endpoints;
  const names = cache.list(latticeClusters).flatMap(({ metadata }) => (metadata.name === name ? [] : [metadata.name]));
  return childrenWithFormerAddress(names, endpoints, cell.running?.link).length > 0 ? endpoints : { ...endpoints, former: [] };
}

function planOf({ cluster, endpoints, home, servesPools, servesAnnouncements }: NonNullable<ObservedSelf>): Plan<never> {
  const isServed = ({ kind }: KubeObject) => (kind === ciliumLoadBalancerIpPools.kind ? servesPools : servesAnnouncements);
  const pools = cluster === undefined ? [] : addressPoolObjects(cluster).filter(isServed);
  // the record first: a child that gets an address must find it in there after a change of the spec
  return { apply: [...endpointsRecord(endpoints, home), ...cellService(endpoints, home), ...pools], prune: true, commands: [] };
}

function endpointsRecord(endpoints: ServedEndpoints | undefined, namespace: string): readonly ConfigMap[] {
  if (endpoints === undefined) return [];
  const metadata = { name: CELL_ENDPOINTS_CONFIG_MAP, namespace, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata, data: endpointsData(endpoints) }];
}
