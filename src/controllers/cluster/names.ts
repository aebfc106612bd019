/** Names of objects that the operator, its cell and its agent share. All but those of a child are in the operator's namespace. */

/** `data.cluster` is the name of the cluster that the operator runs in. */
export const IDENTITY_CONFIG_MAP = "lattice-identity";
/** Makes a cluster an agent: how it reaches its parent. */
export const PARENT_CONFIG_SECRET = "lattice-parent-config";
/** The Service in front of a cell's listeners. */
export const CELL_SERVICE = "lattice-cell";
/** The addresses that a cell has served, which its children may have. */
export const CELL_ENDPOINTS_CONFIG_MAP = "lattice-cell-endpoints";
/** The cell's record about the credentials of a child. */
export function accessSecretOf(cluster: string): string {
  return `lattice-access-${cluster}`;
}

/** How Cluster API reaches the child: through the cell. The name is Cluster API's. */
export function kubeconfigSecretOf(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** In the operator's namespace: the account with which Cluster API reaches the cluster that it runs in. */
export const CLUSTER_API_ACCOUNT = "lattice-cluster-api";
