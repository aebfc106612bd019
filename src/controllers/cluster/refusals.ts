/** Why a child cannot be provisioned at present, as sentences with what to do. Pure but for reads of the cache. */
import { capiNamespace } from "#cluster-compiler";
import type { CacheReader } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import {
  azureClusterIdentities,
  field,
  fieldAt,
  groupResourceOf,
  isBeingDeleted,
  isJsonObject,
  namespaces,
  secretsByMetadata,
  type KubeObject,
  type Resource,
} from "#kube";
import { ownershipOf } from "#pivot";
import { IDENTITY_CONFIG_MAP } from "./names.ts";
import type { OwnIdentity } from "./identity.ts";
import type { ClusterProblem } from "./observed.ts";
import { tracesIn } from "./move-traces.ts";

/** This cluster provisions no others. */
export function notACell({ name, own, endpoints }: OwnIdentity, home: string): ClusterProblem | undefined {
  if (endpoints !== undefined) return undefined;
  const hint = "spec.endpoints.host makes it a cell: the address that children connect to";
  const message =
    name === undefined
      ? `this cluster is no cell: create ConfigMap ${home}/${IDENTITY_CONFIG_MAP} with the name of this cluster in data.cluster, and a LatticeCluster of that name; ${hint}`
      : own === undefined
        ? `this cluster is no cell: LatticeCluster ${name}, its own, does not exist or is invalid; ${hint}`
        : `this cluster is no cell: LatticeCluster ${name}, its own, has no spec.endpoints; ${hint}`;
  return { reason: "NotACell", message, terminal: false };
}

/** The cell serves the children that exist until they are gone: one that began now would prolong it. */
export function endpointsRemoved({ own, endpoints }: OwnIdentity): ClusterProblem | undefined {
  if (own === undefined || endpoints?.isRemoved !== true) return undefined;
  const { name } = own.metadata;
  const message = `spec.endpoints of LatticeCluster ${name} was removed: it serves the children that it has, and takes no others; delete this resource, or set spec.endpoints.host there`;
  return { reason: "NotACell", message, terminal: false };
}

/** The deletion waits for the children that exist: one that began now would prolong it, or would be left with its machines. */
export function cellDeleting({ own }: OwnIdentity): ClusterProblem | undefined {
  if (own === undefined || !isBeingDeleted(own)) return undefined;
  const { name } = own.metadata;
  const message = `the cell ${name} is being deleted, and begins no clusters; delete this resource, or apply it on another cell`;
  return { reason: "CellDeleting", message, terminal: false };
}

/** A cluster that is adopted now would lose its parent again. Those that are children already stay, until they are deleted or get another parent. */
export function cellClosing(identity: OwnIdentity, cache: CacheReader): ClusterProblem | undefined {
  const { own } = identity;
  if (own === undefined) return undefined;
  const removed = endpointsRemoved(identity);
  if (removed !== undefined) return removed;
  const { name } = own.metadata;
  const advice =
    "set spec.deletion.unpivot to false and delete this resource, which changes nothing in the cluster; then run lattice reparent with another cell";
  if (isBeingDeleted(own))
    return { reason: "CellDeleting", message: `the cell ${name} is being deleted, and adopts no clusters; ${advice}`, terminal: false };
  if (!tracesIn(cache, capiNamespace(name)).hasJournal) return undefined;
  const message = `the Cluster API objects of the cell ${name} are being moved away, as in its deletion, and it adopts no clusters; ${advice}`;
  return { reason: "CellNotOwner", message, terminal: false };
}

/**
 * A parent that owns the objects of this cell deletes its machines without asking for clusters in it, and while objects are moved this cell has been asked
 * already. Without a parent nothing else can delete it.
 */
export function cellNotOwner({ own, hasParent }: OwnIdentity, cache: CacheReader): ClusterProblem | undefined {
  if (own === undefined || !hasParent) return undefined;
  const { name } = own.metadata;
  if (ownershipOf(tracesIn(cache, capiNamespace(name))).state === "owner") return undefined;
  const message =
    `the cell ${name} does not own itself, and begins no clusters: its parent may delete its machines at any time; this one is created when the pivot of ${name} ` +
    `is complete. LatticeCluster ${name} on its parent has its state; if it was aborted, run there: lattice pivot resume ${name}`;
  return { reason: "CellNotOwner", message, terminal: false };
}

export function otherCell({ spec: { cellRef } }: LatticeCluster, cell: string): ClusterProblem | undefined {
  if (cellRef === undefined || cellRef === cell) return undefined;
  const message = `spec.cellRef: is ${cellRef}, and this cell is ${cell}; apply the resource on ${cellRef}, or remove the field, which the cell sets`;
  return { reason: "CellRefDisagrees", message, terminal: false };
}

export function missingCredentials(cluster: LatticeCluster, cache: CacheReader): ClusterProblem | undefined {
  const { provider } = cluster.spec;
  const { credentialsRef } = provider;
  if (credentialsRef === undefined) return undefined;
  if (provider.type === "azure") return missingIdentity(cluster, credentialsRef, cache);
  if (cache.get(secretsByMetadata, credentialsRef) !== undefined) return undefined;
  const { namespace, name } = credentialsRef;
  const message = `spec.provider.credentialsRef: Secret ${namespace}/${name} does not exist; create it with the credentials of ${provider.type}`;
  return { reason: "CredentialsMissing", message, terminal: false };
}

type IdentityRef = { readonly namespace: string; readonly name: string };

/** On Azure it names an identity of the provider, not a Secret. A provider that is not installed is reported with all of its kinds. */
function missingIdentity({ metadata }: LatticeCluster, ref: IdentityRef, cache: CacheReader): ClusterProblem | undefined {
  if (!cache.isServed(azureClusterIdentities)) return undefined;
  const identity = cache.get(azureClusterIdentities, ref);
  const of = `spec.provider.credentialsRef: AzureClusterIdentity ${ref.namespace}/${ref.name}`;
  const used = capiNamespace(metadata.name);
  if (identity === undefined)
    return { reason: "CredentialsMissing", message: `${of} does not exist; create it, and allow namespace ${used} there`, terminal: false };
  if (allowsNamespace(identity, used)) return undefined;
  const message = `${of} does not allow namespace ${used}; add it to spec.allowedNamespaces.list`;
  return { reason: "CredentialsMissing", message, terminal: false };
}

/** As the provider decides it: absent allows none, empty allows all. What a selector matches is known only when the namespace exists. */
function allowsNamespace(identity: KubeObject, namespace: string): boolean {
  const allowed = fieldAt(identity, "spec", "allowedNamespaces");
  if (!isJsonObject(allowed)) return false;
  const list = field(allowed, "list");
  const selector = field(allowed, "selector");
  if (Array.isArray(list) && list.includes(namespace)) return true;
  return isJsonObject(selector) ? Object.keys(selector).length > 0 : list === undefined || list === null;
}

export function terminatingNamespace(namespace: string, cache: CacheReader): ClusterProblem | undefined {
  const live = cache.get(namespaces, { name: namespace });
  if (live === undefined || !isBeingDeleted(live)) return undefined;
  const message = `namespace ${namespace} of an earlier cluster of this name is being deleted; the cluster is created when it is gone`;
  return { reason: "NamespaceTerminating", message, terminal: false };
}

/** Kinds of planned objects that this cluster does not serve. */
export function missingProvider(
  objects: readonly KubeObject[],
  type: string,
  served: { readonly kinds: readonly Resource[]; readonly cache: CacheReader },
): ClusterProblem | undefined {
  const isMissing = ({ apiVersion, kind }: KubeObject) => {
    const resource = served.kinds.find((one) => one.kind === kind && apiVersion === apiVersionText(one));
    return resource === undefined || !served.cache.isServed(resource);
  };
  const missing = [
    ...new Set(objects.filter(isMissing).map(({ apiVersion, kind }) => nameOfKind(apiVersion, kind, served.kinds))),
  ].toSorted();
  if (missing.length === 0) return undefined;
  const how =
    type === "local" ? "local clusters are for a cell that lattice up runs" : `install Cluster API with the provider ${type} of the bundle`;
  const message = `this cell does not serve ${missing.join(", ")}; ${how}`;
  return { reason: "ProviderNotInstalled", message, terminal: false };
}

function apiVersionText({ group, version }: Resource): string {
  return group === "" ? version : `${group}/${version}`;
}

function nameOfKind(apiVersion: string, kind: string, kinds: readonly Resource[]): string {
  const resource = kinds.find((one) => one.kind === kind && apiVersionText(one) === apiVersion);
  return resource === undefined ? `${kind} (${apiVersion})` : groupResourceOf(resource);
}
