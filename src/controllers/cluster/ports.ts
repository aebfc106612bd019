/**
 * What the cluster controller needs from the parts of a cell that run beside it: the link to the agents, the access records, and the authority.
 * The operator connects them while it leads; until then a cell has none, and its children wait.
 */
import type { Result, Sensitive } from "#base";
import type { FailureCause } from "#controller-runtime";
import type { LatticeCluster } from "#crds";

/** A child's agent, as the link of the cell has it. */
export type ChildAgent = {
  readonly connected: boolean;
  readonly state: string;
  readonly agentVersion: string;
  readonly protocol: number;
  readonly kubernetesVersion: string;
  readonly connectedSince?: number | undefined;
  readonly lastHeartbeat?: number | undefined;
  readonly health?: ChildHealth | undefined;
  readonly bootstrapComplete: boolean;
  readonly lastCloseReason?: string | undefined;
};

export type ChildHealth = {
  readonly readyNodes: number;
  readonly totalNodes: number;
  readonly kubernetesVersion: string;
  readonly pools?: ReadonlyMap<string, { readonly desired: number; readonly ready: number }> | undefined;
  /** Of the spec of the child's own LatticeCluster. */
  readonly specDigest?: string | undefined;
  /** By which the child drives its own Cluster API objects. */
  readonly ownershipEpoch?: number | undefined;
  /** Of this cell, as the agent has them: see `addressesOf`. */
  readonly parentAddresses?: readonly string[] | undefined;
};

export type ChildLink = {
  readonly agents: () => ReadonlyMap<string, ChildAgent>;
  readonly subscribe: (listener: (cluster: string) => void) => () => void;
  /** Ends the connection of its agent, and removes the agent. */
  readonly forget: (cluster: string, reason: string) => void;
};

/** For the first node of a child, and for Cluster API on the cell. */
export type ChildTokens = { readonly bootstrap: Sensitive<string>; readonly proxy: Sensitive<string> };

/** The record of a child's credentials, without any of them. */
export type ChildAccess = {
  /** The bootstrap token was exchanged for a certificate. */
  readonly spent: boolean;
  readonly revoked: boolean;
  /** Of the bootstrap token, in milliseconds. */
  readonly expiresAt: number;
  /** Oldest first. */
  readonly certificates: readonly { readonly serial: string; readonly notAfter: number }[];
  /** The last failed step that a node of the child reported. */
  readonly lastReport?: { readonly step: string; readonly message: string; readonly node: string } | undefined;
};

export type AccessResult<T> = Promise<Result<T, FailureCause>>;

/** The access records. Every change is safe to repeat; a token is returned once and stored only as a digest. */
export type ChildAccessRecords = {
  readonly read: (cluster: string) => ChildAccess | undefined;
  /**
   * New tokens, which replace those before; the record is created if there is none. Certificates stay accepted. `expiresAt`: of the bootstrap
   * token.
   */
  readonly issueTokens: (cluster: string, expiresAt: number) => AccessResult<ChildTokens>;
  /** Another credential for the API proxy, which replaces the one before; nothing else changes. */
  readonly issueProxyToken: (cluster: string) => AccessResult<Sensitive<string>>;
  /** Postpones the expiry of the bootstrap token. */
  readonly extend: (cluster: string, expiresAt: number) => AccessResult<void>;
  /** Refuses all credentials of the cluster from now on. */
  readonly remove: (cluster: string) => AccessResult<void>;
};

/** The move of a child's Cluster API objects, to the child or back. */
export type PivotView = {
  /** "abort": an unfinished move to the child is undone. */
  readonly direction: "to-child" | "to-parent" | "abort";
  /** "waiting": the last attempt has ended with a problem, and another one follows. */
  readonly state: "queued" | "running" | "waiting" | "done";
  readonly step?: string | undefined;
  readonly moved?: number | undefined;
  readonly total?: number | undefined;
  /** Of the first attempt, in milliseconds, as the others. */
  readonly startedAt: number;
  /** When the last step or object was completed. */
  readonly progressAt: number;
  readonly finishedAt?: number | undefined;
  readonly epoch?: number | undefined;
  /** What was moved, for people. */
  readonly report?: string | undefined;
  /** Of the last attempt; it stays until the next one has advanced beyond it. */
  readonly problem?: PivotProblem | undefined;
  /** Of the next attempt. */
  readonly retryAt?: number | undefined;
  /** The id of the request that the last attempt was started for. */
  readonly request?: string | undefined;
};

export type PivotProblem = {
  /**
   * "refused": a person must act. "failed": an API server did not do what was asked. "unreachable": the agent is not connected. "has-children": the
   * child has clusters of its own. "held": another process moves the namespace.
   */
  readonly kind: "refused" | "failed" | "unreachable" | "has-children" | "held";
  readonly message: string;
};

/** Moves of children, which run beside the passes of the controller. Every call is safe to repeat: a move that runs, or waits, is not started again. */
export type ChildPivots = {
  readonly view: (cluster: string) => PivotView | undefined;
  /** Moves the objects to the child. Undone steps of an earlier process are continued. */
  readonly start: (cluster: LatticeCluster) => void;
  /** Undoes an unfinished move to the child; without one there is nothing to do. */
  readonly abort: (cluster: LatticeCluster) => void;
  /** Takes the objects back. With `spec.deletion.unpivot: false` the child has them in the end. */
  readonly unpivot: (cluster: LatticeCluster) => void;
  /** Copies the child's spec into its LatticeCluster on the parent. */
  readonly mirror: (cluster: string) => void;
  /** Ends what runs for the cluster; it is deleted. */
  readonly forget: (cluster: string) => void;
  readonly subscribe: (listener: (cluster: string) => void) => () => void;
};

/** A running cell. */
export type RunningCell = {
  readonly link: ChildLink;
  readonly access: ChildAccessRecords;
  readonly pivots: ChildPivots;
  /** Certificates of the cell's authorities in PEM: the trust of children. */
  readonly trustBundle: () => string;
  /** When the link began to listen: agents need a while to come back. */
  readonly since: number;
};

/** Where the operator puts its running cell. */
export class CellSlot {
  #running: RunningCell | undefined;
  readonly #listeners = new Set<() => void>();

  get running(): RunningCell | undefined {
    return this.#running;
  }

  set(running: RunningCell | undefined): void {
    this.#running = running;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
