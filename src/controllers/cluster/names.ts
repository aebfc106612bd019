/** Names of objects that the operator, its cell and its agent share. All but those of a child are in the operator's namespace. */

/** `data.cluster` is the name of the cluster that the operator runs in. */
export const IDENTITY_CONFIG_MAP = "lattice-identity";
/** Makes a cluster an agent: how it reaches its parent. */
export const PARENT_CONFIG_SECRET = "lattice-parent-config";
/** The Service in front of a cell's listeners. */
export const CELL_SERVICE = "lattice-cell";
/** On objects of Cluster API, and on Secrets that its managers must find in their caches. */
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";

/** The namespace of a cluster's Cluster API objects, on parent and child. */
export function capiNamespaceOf(cluster: string): string {
  return `capi-${cluster}`;
}

/** The one-time token of a child, which its first node reads. */
export function bootstrapSecretOf(cluster: string): string {
  return `lattice-bootstrap-${cluster}`;
}

/** How Cluster API reaches the child: through the cell. The name is Cluster API's. */
export function kubeconfigSecretOf(cluster: string): string {
  return `${cluster}-kubeconfig`;
}
