/**
 * Drives a LatticeCluster from its spec to a child cluster whose agent is connected, and reports the state of the operator's own cluster.
 *
 * One controller for both, because both are resources of one kind with one status. What a resource is to this operator, its own cluster, a child of its
 * cell or a foreign one, is observed in every pass: a cluster becomes a cell, and gets a name, while the operator runs.
 */
import { capiNamespace, CLUSTER_NAME_LABEL } from "#cluster-compiler";
import { defineController, watch, type CacheReader } from "#controller-runtime";
import { latticeClusters, type LatticeCluster } from "#crds";
import {
  azureClusterIdentities,
  capiMachines,
  capiMachineSets,
  configMaps,
  isBeingDeleted,
  namespaces,
  nodes,
  secrets,
  secretsByMetadata,
  serviceAccounts,
  services,
  type KubeObject,
  type ObjectKey,
} from "#kube";
import { MOVE_JOURNAL, MOVE_RECORD } from "#pivot";
import { followAgents, followPivots } from "./agent-changes.ts";
import { CHILD_ANNOTATION, performClusterCommand, type ClusterCommand } from "./commands.ts";
import { identityOf } from "./identity.ts";
import { CELL_ENDPOINTS_CONFIG_MAP, CELL_SERVICE, CLUSTER_API_ACCOUNT, IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "./names.ts";
import { observeCluster, type ClusterShared } from "./observe.ts";
import type { ObservedCluster } from "./observed.ts";
import { childKinds } from "./owned-kinds.ts";
import { planCluster } from "./plan.ts";
import { statusOfCluster } from "./status.ts";

export const clusterController = defineController<LatticeCluster, ObservedCluster, ClusterCommand, ClusterShared>({
  name: "cluster",
  reconciles: latticeClusters,
  owns: childKinds,
  ownerReferences: "none",
  watches: [
    watch(latticeClusters, ({ metadata: { name } }, { cache, home }) => clustersOfCluster(name, cache, home), { ignoresStatus: true }),
    watch(configMaps, ({ metadata }, { cache, home }) =>
      isHome(metadata, home, IDENTITY_CONFIG_MAP) || isHome(metadata, home, CELL_ENDPOINTS_CONFIG_MAP)
        ? allOf(cache)
        : clustersOfTrace(metadata, cache, home),
    ),
    watch(secretsByMetadata, (secret, { cache, home }) => clustersOfSecret(secret, cache, home)),
    watch(services, ({ metadata }, { cache, home }) => (isHome(metadata, home, CELL_SERVICE) ? ownOf(cache, home) : [])),
    watch(nodes, (_node, { cache, home }) => ownOf(cache, home)),
    watch(namespaces, ({ metadata: { annotations } }) =>
      annotations?.[CHILD_ANNOTATION] === undefined ? [] : [{ name: annotations[CHILD_ANNOTATION] }],
    ),
    watch(azureClusterIdentities, ({ metadata }, { cache }) => clustersOfCredentials(metadata, cache)),
    watch(capiMachines, clusterOfLabel),
    watch(capiMachineSets, clusterOfLabel),
  ],
  optional: [...childKinds, azureClusterIdentities, capiMachines, capiMachineSets],
  permissions: [
    { resource: latticeClusters, verbs: ["patch"] },
    { resource: secrets, verbs: ["get", "create", "patch"] },
    { resource: configMaps, verbs: ["get"] },
    { resource: namespaces, verbs: ["get", "create", "delete"] },
    // for the kubeconfig of a cluster that owns itself
    { resource: serviceAccounts, subresource: "token", verbs: ["create"], names: [CLUSTER_API_ACCOUNT] },
  ],
  announces: ["AgentConnected", "CertificatesValid", "EndpointsCurrent", "Pivoting", "SpecIgnored"],
  triggers: (enqueue, { cell, uplink }) => {
    const ends = [
      followAgents(cell, (name) => enqueue({ name })),
      followPivots(cell, (name) => enqueue({ name })),
      uplink.subscribe(() => uplink.current !== undefined && enqueue({ name: uplink.current.cluster })),
    ];
    return () => ends.forEach((end) => end());
  },
  observe: observeCluster,
  plan: planCluster,
  perform: performClusterCommand,
  status: statusOfCluster,
  teardown: "by-plan",
});

/** All clusters of a cell depend on its address, and its deletion waits for all of them. */
function clustersOfCluster(name: string, cache: CacheReader, home: string): readonly ObjectKey[] {
  const { name: ownName, own } = identityOf(cache, home);
  if (name === ownName) return allOf(cache);
  return own !== undefined && isBeingDeleted(own) ? [{ name: own.metadata.name }] : [];
}

function allOf(cache: CacheReader): readonly ObjectKey[] {
  return cache.list(latticeClusters).map(({ metadata: { name } }) => ({ name }));
}

function ownOf(cache: CacheReader, home: string): readonly ObjectKey[] {
  const { name } = identityOf(cache, home);
  return name === undefined ? [] : [{ name }];
}

const CAPI_NAMESPACE = capiNamespace("");

/** What a move leaves in the namespace of a cluster: whether this API server owns its objects depends on it, and whether a cell begins clusters on its own. */
function clustersOfTrace({ namespace = "", name }: KubeObject["metadata"], cache: CacheReader, home: string): readonly ObjectKey[] {
  const isTrace = (name === MOVE_RECORD || name === MOVE_JOURNAL) && namespace.startsWith(CAPI_NAMESPACE);
  if (!isTrace) return [];
  const cluster = namespace.slice(CAPI_NAMESPACE.length);
  return cluster === identityOf(cache, home).name ? allOf(cache) : [{ name: cluster }];
}

function isHome({ namespace, name }: KubeObject["metadata"], home: string, wanted: string): boolean {
  return namespace === home && name === wanted;
}

/** A child's own Secrets have the label; others are credentials that its spec names. */
function clustersOfSecret(secret: KubeObject, cache: CacheReader, home: string): readonly ObjectKey[] {
  const { metadata } = secret;
  if (isHome(metadata, home, PARENT_CONFIG_SECRET)) return ownOf(cache, home);
  const labelled = [...clusterOfLabel(secret), ...clustersOfTrace(metadata, cache, home)];
  if (labelled.length > 0) return labelled;
  return clustersOfCredentials(metadata, cache);
}

function clustersOfCredentials({ namespace, name }: KubeObject["metadata"], cache: CacheReader): readonly ObjectKey[] {
  return cache
    .list(latticeClusters)
    .filter(({ spec }) => spec?.provider?.credentialsRef?.name === name && spec.provider.credentialsRef.namespace === namespace)
    .map(({ metadata }) => ({ name: metadata.name }));
}

function clusterOfLabel({ metadata }: KubeObject): readonly ObjectKey[] {
  const name = metadata.labels?.[CLUSTER_NAME_LABEL];
  return name === undefined ? [] : [{ name }];
}
