/** What a provider adds to the objects that are the same for all. One file per provider fills it. */
import type { JsonObject, KubeObject, Resource } from "#kube";
import type { WorkerPool } from "../input.ts";

/** The machines of the control plane, or of one pool. */
export type MachineRole = { readonly role: "control-plane" } | { readonly role: "worker"; readonly pool: WorkerPool };

export type ProviderParts = {
  /** Objects that the provider reads its credentials through. */
  readonly credentials: readonly KubeObject[];
  /** The infrastructure of the cluster; the Cluster refers to it. */
  readonly infrastructure: { readonly resource: Resource; readonly object: KubeObject };
  /** The address of the API server on the Cluster itself, where the infrastructure does not set it. */
  readonly endpoint?: { readonly host: string; readonly port: number };
  readonly machines: Resource;
  /** `spec` of a machine template. */
  readonly machineTemplate: (role: MachineRole) => JsonObject;
  /** How nodes register, besides labels and taints. */
  readonly registration: NodeRegistration;
  /** Nodes are initialized by the cloud's own controller manager. */
  readonly externalCloudProvider: boolean;
};

export type NodeRegistration = {
  readonly fields: JsonObject;
  readonly kubeletArgs: Readonly<Record<string, string>>;
};

/** Where nothing listens: requests to the API server of a child go through its agent. An address, since a name would cause DNS look-ups. */
export const UNREACHABLE_ENDPOINT = { host: "127.0.0.9", port: 6_443 } as const;
