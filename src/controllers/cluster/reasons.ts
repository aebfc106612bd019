/** Reasons in the conditions of a LatticeCluster, with when each occurs; docs are checked against them. */
export const CLUSTER_REASONS = {
  NotACell:
    "Ready, Provisioning, Pivoting: this cluster is no cell, so it provisions no clusters, and takes back no objects of one that is deleted; the message has how it becomes one",
  CellStarting: "Ready, Provisioning: the cell's authority and listeners are being started",
  CellDeleting:
    "Ready, Provisioning: the LatticeCluster of the cell itself is being deleted, so the cell begins no clusters, and adopts none",
  CellNotOwner:
    "Ready, Provisioning: the cell has a parent and does not own itself yet, or its objects are being moved, so it begins no clusters; they are created when its pivot is complete. While its objects are moved away it adopts none, too",
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
  Pivoting: "Ready, Pivoting: the Cluster API objects are being moved to the child; status.pivot has the step and the counts",
  PivotRefused:
    "Ready, Pivoting: the Cluster API objects cannot be moved; the message has all reasons. The parent keeps owning them, and tries again with growing waits",
  PivotFailed: "Ready, Pivoting: an API server did not do what the move asked for, or another process moves the objects; it is tried again",
  PivotTimedOut: "Ready, Pivoting: the pivot made no progress for too long; the message has the cause. It is tried again all the same",
  PivotAborted:
    "Ready, Pivoting: a person has asked for no pivot (annotation lattice.dev/pivot: abort); the parent owns the objects until lattice pivot resume",
  AbortRefused: "Ready, Pivoting: the pivot cannot be undone; the message has the reason, which is the one of the move's specification",
  Pivoted: "Pivoting: the child owns its Cluster API objects",
  WaitingForOwner: "Ready: the Cluster API objects are in the child, and its agent has not reported yet that it owns them",
  AccessMissing:
    "Ready, Pivoting: the cluster owns itself, and the Secret with the record of its access is missing or cannot be read, so its agent is refused; the message has what to do",
  ChildUnreachable: "Ready, Pivoting: the objects cannot be moved, or taken back, while the agent of the child is not connected",
  Unpivoting: "Ready, Pivoting: the cluster is being deleted, and the Cluster API objects are being taken back from it first",
  UnpivotRefused: "Ready, Pivoting: the Cluster API objects cannot be taken back; the message has all reasons",
  UnpivotFailed: "Ready, Pivoting: an API server did not do what taking the objects back asked for; it is tried again",
  UnpivotTimedOut:
    "Ready, Pivoting: the objects were not taken back within spec.deletion.timeout (2 hours); the message has the cause, and how to release the cluster, unless a move has begun",
  HasChildren:
    "Ready, Pivoting: a cluster that has children is not deleted, and goes on serving them, until the last one is gone; the message names them",
  Available: "InfrastructureReady, ControlPlaneAvailable, WorkersAvailable: all of it is available",
  NotReported: "InfrastructureReady, ControlPlaneAvailable, WorkersAvailable: Cluster API has not reported on it yet",
  NoWorkers: "WorkersAvailable: the cluster has no workers by its spec",
  Connected: "AgentConnected: the agent's stream is open and its heartbeats arrive",
  Disconnected: "Ready, AgentConnected: the agent's stream has ended; the message has the last reason. Nothing else changes on the child",
  NoParent: "AgentConnected: the cluster has no parent",
  CertificateValid: "CertificatesValid: the certificate of the agent is valid and is renewed in time",
  CertificateExpiring: "CertificatesValid: the certificate of the agent expires soon, and no renewal has arrived",
  CertificateExpired:
    "CertificatesValid: the certificate of the agent has expired; the message has until when it renews by itself, and after that the command that replaces it",
  CertificateRevoked: "CertificatesValid: the access of the cluster was revoked",
  NoCertificate: "CertificatesValid: no certificate was signed for the agent yet",
  SpecApplied: "SpecIgnored: this cluster's spec is the one that counts",
  SpecMirrored: "SpecIgnored: the cluster owns itself, and this spec is a copy of its own",
  SpecEdited: "SpecIgnored: the cluster owns itself, and this spec differs from its own; the message has where to make the change",
  SelfManaged: "Ready: the cluster owns itself, and its nodes are ready",
  ObjectsMoving:
    "Ready: the Cluster API objects of this cluster are being moved to it or away from it, and it applies none until that has ended",
  ClusterApiMissing: "Ready: this cluster owns itself, and the KubeadmControlPlane of its machines does not exist; nothing is applied",
  Upgrading:
    "Ready: machines go to another version of Kubernetes, the control plane first, then one pool after the other; the message has the step",
  NodesNotReady: "Ready: the cluster owns itself, and some of its nodes are not ready",
  CellAddressPending: "Ready: Service lattice-cell has no address yet",
  CellAddressMismatch:
    "Ready: spec.endpoints.host is not an address of Service lattice-cell, so children cannot connect; the message has both",
  EndpointsRemoved:
    "EndpointsCurrent: spec.endpoints was removed, and the cell goes on serving the children that it has; the message names them",
  FormerEndpointsInUse:
    "EndpointsCurrent: the address of the cell was changed, and the former one is served, too; the message names the children that may have it, and the command that moves each",
  EndpointsCurrent: "EndpointsCurrent: no child has a former address of the cell",
  ParentDisagrees: "Ready: spec.cellRef names another parent than Secret lattice-parent-config",
  Deleting: "Ready: the cluster is being deleted; the message has what it waits for",
} as const satisfies Record<string, string>;

export type ClusterReason = keyof typeof CLUSTER_REASONS;
