/**
 * What the cluster controller needs from the parts of a cell that run beside it: the link to the agents, the access records, and the authority.
 * The operator connects them while it leads; until then a cell has none, and its children wait.
 */
import type { Result, Sensitive } from "#base";
import type { FailureCause } from "#controller-runtime";

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

export type ChildHealth = { readonly readyNodes: number; readonly totalNodes: number; readonly kubernetesVersion: string };

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
  /** Postpones the expiry of the bootstrap token. */
  readonly extend: (cluster: string, expiresAt: number) => AccessResult<void>;
  /** Refuses all credentials of the cluster from now on. */
  readonly remove: (cluster: string) => AccessResult<void>;
};

/** A running cell. */
export type RunningCell = {
  readonly link: ChildLink;
  readonly access: ChildAccessRecords;
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
