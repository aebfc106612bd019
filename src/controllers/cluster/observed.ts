/** What a pass over a LatticeCluster observed. A cluster is the operator's own, a child of this cell, or foreign. */
import type { WantedObject } from "#controller-runtime";
import type { FieldError, LatticeCluster } from "#crds";
import type { CapiView } from "./capi-view.ts";
import type { ChildOwnership } from "./child-ownership.ts";
import type { OwnApiServer } from "./own-kubeconfig.ts";
import type { ChildAccess, ChildAgent, PivotView } from "./ports.ts";
import type { ClusterReason } from "./reasons.ts";
import type { ServedEndpoints } from "./served-endpoints.ts";

/** Why nothing can be applied at present. */
export type ClusterProblem = {
  readonly reason: ClusterReason | "InvalidSpec" | "CompileError";
  readonly message: string;
  /** Only a change of the spec helps. Otherwise the cluster waits for something else, for a limited time. */
  readonly terminal: boolean;
};

/** The cell that a child belongs to. */
export type CellView = {
  readonly name: string;
  readonly host: string;
  readonly grpcPort: number;
  readonly bootstrapPort: number;
  readonly proxyPort: number;
  readonly trustBundle: string;
};

/** Objects of a child, as compiled: those before the kubeconfig Secret, and those after it. */
export type ChildObjects = {
  readonly namespace: string;
  readonly first: readonly WantedObject[];
  readonly rest: readonly WantedObject[];
  /** "Kind namespace/name" of machine templates that are no longer planned and still in use. */
  readonly usedTemplates: ReadonlySet<string>;
  /** What an upgrade does now; undefined: there is none. */
  readonly upgrade?: string | undefined;
};

export type ObservedChild = {
  readonly kind: "child";
  readonly now: number;
  readonly cluster: LatticeCluster;
  readonly cell: CellView | undefined;
  readonly problem: ClusterProblem | undefined;
  readonly errors: readonly FieldError[];
  /** Absent with a problem, and when the parent does not own them. */
  readonly objects: ChildObjects | undefined;
  readonly access: ChildAccess | undefined;
  readonly hasNamespace: boolean;
  readonly hasToken: boolean;
  readonly hasKubeconfig: boolean;
  readonly capi: CapiView;
  readonly agent: ChildAgent | undefined;
  /** Which side drives the Cluster API objects. */
  readonly ownership: ChildOwnership;
  /** Present: the parent owns the Cluster by the move with this id, which has not ended, and the Cluster must be unpaused. */
  readonly resume?: string | undefined;
  /** The move that this process runs, or ran. */
  readonly pivot: PivotView | undefined;
  /** The cell's link listens since a short time: agents that were connected have not returned yet. */
  readonly linkIsNew: boolean;
};

export type OwnNodes = {
  readonly ready: number;
  readonly total: number;
  readonly kubernetesVersion: string | undefined;
  readonly byPool: ReadonlyMap<string, { readonly total: number; readonly ready: number }>;
};

/** Whether this cluster drives its own Cluster API objects. */
export type OwnManagement =
  /** They are on its parent, or there are none. */
  | { readonly state: "never-moved" }
  /** They are arriving here, or leaving. */
  | { readonly state: "moving"; readonly direction: "in" | "out" }
  | {
      readonly state: "owner";
      readonly epoch: number;
      /** Or why nothing can be applied at present. */
      readonly objects: OwnClusterObjects | ClusterProblem;
      /** Present: the kubeconfig of Cluster API must be written. */
      readonly kubeconfig: OwnApiServer | undefined;
      /** Present: the move with this id has not ended, and the Cluster must be unpaused. */
      readonly resume?: string | undefined;
    };

/** Objects of the cluster itself, as compiled. */
export type OwnClusterObjects = Pick<ChildObjects, "namespace" | "usedTemplates" | "upgrade"> & { readonly all: readonly WantedObject[] };

export type ObservedOwn = {
  readonly kind: "own";
  readonly now: number;
  readonly cluster: LatticeCluster;
  readonly errors: readonly FieldError[];
  readonly nodes: OwnNodes;
  readonly capi: CapiView;
  /** Secret lattice-parent-config exists. */
  readonly hasParent: boolean;
  /** The parent that it names; undefined until the agent has read it. */
  readonly parent: string | undefined;
  /** The connection to it; undefined: there is none yet. */
  readonly uplink: Uplink | undefined;
  /** For how long this process has had none that is open; undefined: it is open, or the agent has not been started. */
  readonly parentAwayMs?: number | undefined;
  /** Why Service lattice-cell does not lead to this cell. */
  readonly cellProblem: ClusterProblem | undefined;
  /** Undefined: it is no cell. */
  readonly addresses?: CellAddresses | undefined;
  readonly management: OwnManagement;
  /** Other LatticeClusters here. */
  readonly children: readonly string[];
};

export type CellAddresses = {
  readonly served: ServedEndpoints;
  /** Those that are not known to have the current address; all of them if it was removed. */
  readonly children: readonly string[];
  /** Agents that were connected have not returned yet. */
  readonly linkIsNew: boolean;
};

/** The agent's connection to its parent. */
export type Uplink = {
  readonly connected: boolean;
  readonly since?: number | undefined;
  readonly lastCloseReason?: string | undefined;
  readonly certificateNotAfter?: number | undefined;
};

export type ObservedCluster = ObservedChild | ObservedOwn;
