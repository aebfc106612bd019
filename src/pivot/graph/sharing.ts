/**
 * What a move copies and keeps at the source: objects that others than the moved Clusters use as well. A Cluster of the namespace, and what it
 * owns there, is never kept, also when something that stays owns it: it would have two owners afterwards. Pure.
 */
import { describeObject } from "#kube";
import { descendants, type Dependants, type OwnedVertex } from "./levels.ts";
import type { DiscoveredObject } from "./name-index.ts";
import { CORE_GROUP } from "./names.ts";

/** Why an object is copied and stays at the source as well. */
export type KeptBecause = "cluster-scoped" | "other-namespace" | "used-elsewhere";

type Vertex = DiscoveredObject & OwnedVertex;
type Scope = { readonly namespace: string; readonly classesUsedElsewhere: ReadonlySet<string> };
type Owned = {
  readonly vertices: ReadonlyMap<string, Vertex>;
  readonly dependants: Dependants;
  /** Cluster-scoped objects that are moved. */
  readonly globalRoots: readonly string[];
};

export type Sharing = {
  readonly namespace: string;
  /** The Clusters of the namespace, and what they own in it. */
  readonly ofClusters: ReadonlySet<string>;
  /** Below cluster-scoped objects, but not below a Cluster. */
  readonly global: ReadonlySet<string>;
  /** ClusterClasses that Clusters of other namespaces use, and what is below them, but not below a Cluster. */
  readonly shared: ReadonlySet<string>;
};

export function sharingOf({ vertices, dependants, globalRoots }: Owned, { namespace, classesUsedElsewhere }: Scope): Sharing {
  const local = [...vertices.values()].filter(({ kind, object }) => kind.resource.namespaced && object.metadata.namespace === namespace);
  const localUids = new Set(local.map(({ uid }) => uid));
  const ofKind = (wanted: string) => local.filter(({ kind: { resource } }) => resource.group === CORE_GROUP && resource.kind === wanted);
  const clusters = new Set(ofKind("Cluster").map(({ uid }) => uid));
  const classes = ofKind("ClusterClass").filter(({ object }) => classesUsedElsewhere.has(object.metadata.name));
  // a Cluster follows its class, but is not part of it
  const isNoCluster = (uid: string) => !clusters.has(uid);
  return {
    namespace,
    ofClusters: descendants([...clusters], dependants, (uid) => localUids.has(uid)),
    global: descendants(globalRoots, dependants, isNoCluster),
    shared: descendants(
      classes.map(({ uid }) => uid),
      dependants,
      isNoCluster,
    ),
  };
}

export function keptBecause({ uid, kind, object }: Vertex, sharing: Sharing): KeptBecause | undefined {
  if (!kind.resource.namespaced) return "cluster-scoped";
  if (sharing.ofClusters.has(uid)) return undefined;
  if (sharing.global.has(uid)) return "cluster-scoped";
  if (object.metadata.namespace !== sharing.namespace) return "other-namespace";
  return sharing.shared.has(uid) ? "used-elsewhere" : undefined;
}

/** What a Cluster owns is deleted at the source, where something that stays needs it. */
export function sharedProblem({ uid, object }: Vertex, { ofClusters, global, shared }: Sharing): readonly string[] {
  if (!ofClusters.has(uid) || (!global.has(uid) && !shared.has(uid))) return [];
  const owner = (object.metadata.ownerReferences ?? []).find((one) => ofClusters.has(one.uid));
  if (owner === undefined) return [];
  const what = `${describeObject(object)} is owned by ${owner.kind} ${owner.name}, which is moved`;
  return [`${what}, and is needed by what stays at the source; remove one of its owner references`];
}
