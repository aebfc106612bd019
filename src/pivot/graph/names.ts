/** Labels, annotations and kinds of Cluster API and clusterctl that decide what is moved, and those of a move itself. */
export const CLUSTERCTL_LABEL = "clusterctl.cluster.x-k8s.io";
export const MOVE_LABEL = "clusterctl.cluster.x-k8s.io/move";
export const MOVE_HIERARCHY_LABEL = "clusterctl.cluster.x-k8s.io/move-hierarchy";
export const BLOCK_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/block-move";
export const DELETE_FOR_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/delete-for-move";
/** On what belongs to a Cluster and is paused with it. */
export const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
export const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";

export const CORE_GROUP = "cluster.x-k8s.io";
export const ADDONS_GROUP = "addons.cluster.x-k8s.io";

/** On a copy that is not complete: the uid of the original. The last write of a copy removes it. */
export const COPY_ANNOTATION = "lattice.dev/copy-of";
/** On a Cluster for the time between two writes of an abort, which change its version. */
export const FENCE_ANNOTATION = "lattice.dev/move-aborted";
/** On a Cluster that its owner has unpaused itself after a move: the id of that move. It is not moved on. */
export const RESUMED_ANNOTATION = "lattice.dev/resumed-after-move";
/** On the objects of the journal, so that no plan takes them for credentials of a cluster. */
export const JOURNAL_LABEL = "lattice.dev/move-journal";
/** The field manager of a move. Copies do not keep its entries in managedFields. */
export const MOVE_MANAGER = "lattice-move";
