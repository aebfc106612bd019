/** Reasons in the conditions of a LatticeCluster, with when each occurs; docs are checked against them. */
export const CLUSTER_REASONS = {
  NotACell: "Ready, Provisioning: this cluster is no cell, so it provisions no clusters; the message has how it becomes one",
  CellStarting: "Ready, Provisioning: the cell's authority and listeners are being started",
  CellRefDisagrees: "Ready, Provisioning: spec.cellRef names another cell than the one the resource is in",
  CredentialsMissing:
    "Ready, Provisioning: the Secret or the identity that spec.provider.credentialsRef names does not exist, or may not be used",
  ProviderNotInstalled:
    "Ready, Provisioning: the cell lacks kinds of Cluster API or of the infrastructure provider; the message has the command that installs them",
  NamespaceTerminating: "Ready, Provisioning: the namespace of an earlier cluster of this name is still being deleted",
  PendingTimedOut:
    "Ready, Provisioning: the cluster waited too long for something that the message names; it goes on by itself once that exists",
  ProvisioningTimedOut:
    "Ready, Provisioning: the machines made no progress for too long; a change of the spec, or progress of a machine, starts another attempt",
  Created: "Provisioning: the Cluster API objects exist, and no machine runs yet",
  WaitingForInfrastructure: "Ready, InfrastructureReady: the provider has not finished the network and the load balancer",
  WaitingForControlPlane: "Ready, ControlPlaneAvailable: not all machines of the control plane are available",
  WaitingForWorkers: "Ready, WorkersAvailable: not all workers are available",
  WaitingForAgent: "Ready, AgentConnected: the child has not connected yet",
  InProgress: "Provisioning: machines are being provisioned, or the child has not connected yet",
  Provisioned: "Provisioning: all machines run and the agent was connected",
  PivotNotBuilt:
    "Ready: the child is complete and connected; this release does not move the Cluster API objects, so the parent keeps owning them",
  Available: "InfrastructureReady, ControlPlaneAvailable, WorkersAvailable: all of it is available",
  NotReported: "InfrastructureReady, ControlPlaneAvailable, WorkersAvailable: Cluster API has not reported on it yet",
  NoWorkers: "WorkersAvailable: the cluster has no workers by its spec",
  Connected: "AgentConnected: the agent's stream is open and its heartbeats arrive",
  Disconnected: "Ready, AgentConnected: the agent's stream has ended; the message has the last reason. Nothing else changes on the child",
  NoParent: "AgentConnected: the cluster has no parent",
  CertificateValid: "CertificatesValid: the certificate of the agent is valid and is renewed in time",
  CertificateExpiring: "CertificatesValid: the certificate of the agent expires soon, and no renewal has arrived",
  CertificateExpired: "CertificatesValid: the certificate of the agent has expired; the message has until when it renews by itself",
  CertificateRevoked: "CertificatesValid: the access of the cluster was revoked",
  NoCertificate: "CertificatesValid: no certificate was signed for the agent yet",
  SpecApplied: "SpecIgnored: this cluster's spec is the one that counts",
  SelfManaged: "Ready: this is the cluster's own resource, and its nodes are ready",
  ObjectsMoving: "Ready: the Cluster API objects of this cluster are being moved to it or away from it, and it applies none until that has ended",
  ClusterApiMissing: "Ready: this cluster owns itself, and the KubeadmControlPlane of its machines does not exist; nothing is applied",
  Upgrading: "Ready: machines go to another version of Kubernetes, the control plane first, then one pool after the other; the message has the step",
  HasChildren: "Ready: a cluster that is a parent is not deleted; the message names its children",
  NodesNotReady: "Ready: this is the cluster's own resource, and some of its nodes are not ready",
  CellAddressPending: "Ready: Service lattice-cell has no address yet",
  CellAddressMismatch:
    "Ready: spec.endpoints.host is not an address of Service lattice-cell, so children cannot connect; the message has both",
  ParentDisagrees: "Ready: spec.cellRef names another parent than Secret lattice-parent-config",
  Deleting: "Ready: the cluster is being deleted; the message has what it waits for",
} as const satisfies Record<string, string>;

export type ClusterReason = keyof typeof CLUSTER_REASONS;
