/** What an installation works with: two clusters, one of which it can create and remove. */
import type { Result } from "#base";
import type { KubeClient } from "#kube-client";

/** Undefined: the cluster does not exist. An error: it exists, and cannot be reached. */
export type FindCluster = (signal: AbortSignal) => Promise<Result<KubeClient | undefined, string>>;

/**
 * "removed": the cluster goes. "cleaned": it was there before, and loses what was created in it. "kept": it had an operator and the providers before, which stay; only
 * its LatticeCluster of the management cluster goes.
 */
export type BootstrapEnd = "removed" | "cleaned" | "kept";

/** Where the management cluster is made. */
export type BootstrapHost = {
  /** Its name as a cell. */
  readonly name: string;
  readonly atEnd: BootstrapEnd;
  readonly find: FindCluster;
  /** It has the providers afterwards, and an operator if it is for an installation. Repeated after a crash. */
  readonly create: (signal: AbortSignal) => Promise<Result<void, string>>;
  readonly remove: (signal: AbortSignal) => Promise<Result<void, string>>;
  /** `spec.endpoints` of its cell: addresses that the machines of the management cluster can reach. */
  readonly endpoints: () => Promise<Result<CellEndpoints, string>>;
  /** How a person discards a management cluster that is being made, such as "delete its LatticeCluster with kubectl …". */
  readonly discard: string;
};

export type CellEndpoints = {
  readonly host: string;
  readonly grpcPort: number;
  readonly bootstrapPort: number;
  readonly proxyPort: number;
  readonly service: { readonly type: "ClusterIP" | "NodePort" | "LoadBalancer" };
};

export type ManagementAccess = {
  readonly find: FindCluster;
  /** What to do if it does not answer because it does not exist any more. Absent: `find` knows that. */
  readonly ifGone?: string | undefined;
  /** The text of a kubeconfig with which Cluster API in a bootstrap cluster reaches it. */
  readonly kubeconfig: () => Promise<Result<string, string>>;
  /** The command with which a person changes its own LatticeCluster. */
  readonly edit: string;
  /** Its machines are deleted: from now on, `find` finds no cluster if nothing answers. Absent: `find` knows it by other means. */
  readonly markDeleted?: (() => Promise<Result<void, string>>) | undefined;
};
