/** What a compilation reads, and what it gives. */
import type { JsonObject, KubeObject } from "#kube";

/** What the parent adds to a LatticeCluster. */
export type ClusterSettingsInput = {
  /** The parent. Absent: no bootstrap script, as in the installation flow and on the cluster itself. */
  readonly cell?: {
    readonly name: string;
    readonly host: string;
    readonly bootstrapPort: number;
    readonly proxyPort: number;
    /** PEM certificates that nodes trust for the bootstrap webhook. */
    readonly caBundle: string;
  };
  /** The Secret with the one-time token, in the namespace of the cluster. Absent: `lattice-bootstrap-<cluster>`. */
  readonly tokenSecret?: string;
  /** Objects that are in the cluster already. */
  readonly existing?: {
    /**
     * The KubeadmControlPlane. Its bootstrap-only fields and no others are compiled, so that an apply does not change them: a change would
     * replace all control-plane machines. Its version is the one that an upgrade starts from.
     */
    readonly controlPlane?: KubeObject;
    /** The MachineDeployments. With them an upgrade is staged; without them all pools are compiled with the version of the spec. */
    readonly pools?: readonly KubeObject[];
    /** The Machines, by whose versions a pool is complete. */
    readonly machines?: readonly KubeObject[];
  };
  /** The address of the API server for providers that do not choose one (local, docker in memory). Absent: one where nothing listens. */
  readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number };
};

/** Fields of one object that are written only on creation, as paths: `["spec", "replicas"]`. */
export type OnceFields = {
  readonly kind: string;
  readonly name: string;
  readonly paths: readonly (readonly string[])[];
};

/** An object for the apply engine: `once` has the fields that another controller changes after creation. */
export type WantedClusterObject = { readonly object: KubeObject; readonly once?: JsonObject };

export type CompiledCluster = {
  readonly namespace: string;
  /**
   * Complete, as they are created, in apply order: Namespace, credentials, infrastructure, Cluster, machine templates, KubeadmConfigTemplates,
   * KubeadmControlPlane, MachineDeployments, MachineHealthChecks. The kubeconfig Secret belongs before the KubeadmControlPlane.
   */
  readonly objects: readonly KubeObject[];
  /** The same objects in the same order, for the apply engine. */
  readonly wanted: readonly WantedClusterObject[];
  readonly once: readonly OnceFields[];
  /** Names of all templates: of machines and of kubeadm configs. */
  readonly templates: readonly string[];
  /** What an upgrade does now, and what waits for it; absent: everything has the version of the spec. */
  readonly upgrade?: string;
  /** Names of MachineDeployments that are created after the control plane has the version of the spec. */
  readonly later: readonly string[];
};

/** A pool of workers with its defaults. */
export type WorkerPool = {
  /** "default" for `spec.nodes.workers`. */
  readonly pool: string;
  /** The name of its MachineDeployment. */
  readonly name: string;
  /** Where it is in the spec. */
  readonly path: string;
  readonly replicas: number;
  /** Absent: the number of machines is fixed. */
  readonly bounds?: { readonly min: number; readonly max: number };
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly JsonObject[];
  /** The provider's machine fields of the pool. */
  readonly machine: {
    readonly instanceType?: string | undefined;
    readonly machineType?: string | undefined;
    readonly vmSize?: string | undefined;
    readonly diskGiB?: number | undefined;
  };
};

/** What the parts of a compilation share. */
export type ClusterContext = {
  readonly name: string;
  readonly namespace: string;
  /** With a leading "v". */
  readonly version: string;
  readonly pods: string;
  readonly services: string;
  readonly pools: readonly WorkerPool[];
};
