/** Which cluster the operator runs in, by the cache: its name, its own LatticeCluster, and its parent. */
import { memoizeByObject } from "#base";
import type { CacheReader } from "#controller-runtime";
import { latticeClusters, parseLatticeCluster, type LatticeCluster } from "#crds";
import { configMaps, secretsByMetadata } from "#kube";
import { CELL_ENDPOINTS_CONFIG_MAP, IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "./names.ts";
import { recordedEndpoints, servedEndpoints, type ServedEndpoints } from "./served-endpoints.ts";

export type OwnIdentity = {
  /** Undefined: ConfigMap lattice-identity is missing or has no name. */
  readonly name: string | undefined;
  /** Undefined: there is no valid LatticeCluster of that name. One that is being deleted counts: its children need their cell until they are gone. */
  readonly own: LatticeCluster | undefined;
  /** Secret lattice-parent-config exists. */
  readonly hasParent: boolean;
  /** Undefined: it is no cell. */
  readonly endpoints: ServedEndpoints | undefined;
};

/** Asked in every pass over every child, and the object in the cache is the same one until it changes. */
const parsedOwn = memoizeByObject(parseLatticeCluster);

function endpointsOf({ metadata, spec }: LatticeCluster, cache: CacheReader, home: string): ServedEndpoints | undefined {
  const record = cache.get(configMaps, { namespace: home, name: CELL_ENDPOINTS_CONFIG_MAP });
  // a cell has thousands of clusters: they are listed only after a change of its address
  const hasChildren = () => cache.list(latticeClusters).some((other) => other.metadata.name !== metadata.name);
  return servedEndpoints(spec.endpoints, record === undefined ? [] : recordedEndpoints(record), hasChildren);
}

export function identityOf(cache: CacheReader, home: string): OwnIdentity {
  const name = cache.get(configMaps, { namespace: home, name: IDENTITY_CONFIG_MAP })?.data?.["cluster"];
  const raw = name === undefined || name === "" ? undefined : cache.get(latticeClusters, { name });
  const parsed = raw === undefined ? undefined : parsedOwn(raw);
  const own = parsed?.ok === true ? parsed.value : undefined;
  return {
    name: name === "" ? undefined : name,
    own,
    endpoints: own === undefined ? undefined : endpointsOf(own, cache, home),
    hasParent: cache.get(secretsByMetadata, { namespace: home, name: PARENT_CONFIG_SECRET }) !== undefined,
  };
}
