/** Which cluster the operator runs in, by the cache: its name, its own LatticeCluster, and its parent. */
import { memoizeByObject } from "#base";
import type { CacheReader } from "#controller-runtime";
import { latticeClusters, parseLatticeCluster, type LatticeCluster } from "#crds";
import { configMaps, secretsByMetadata } from "#kube";
import { IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "./names.ts";

export type OwnIdentity = {
  /** Undefined: ConfigMap lattice-identity is missing or has no name. */
  readonly name: string | undefined;
  /** Undefined: there is no valid LatticeCluster of that name. One that is being deleted counts: its children need their cell until they are gone. */
  readonly own: LatticeCluster | undefined;
  /** Secret lattice-parent-config exists. */
  readonly hasParent: boolean;
};

/** Asked in every pass over every child, and the object in the cache is the same one until it changes. */
const parsedOwn = memoizeByObject(parseLatticeCluster);

export function identityOf(cache: CacheReader, home: string): OwnIdentity {
  const name = cache.get(configMaps, { namespace: home, name: IDENTITY_CONFIG_MAP })?.data?.["cluster"];
  const raw = name === undefined || name === "" ? undefined : cache.get(latticeClusters, { name });
  const parsed = raw === undefined ? undefined : parsedOwn(raw);
  return {
    name: name === "" ? undefined : name,
    own: parsed?.ok === true ? parsed.value : undefined,
    hasParent: cache.get(secretsByMetadata, { namespace: home, name: PARENT_CONFIG_SECRET }) !== undefined,
  };
}
