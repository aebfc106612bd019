/** The kinds of the objects that are applied for a child, of all providers. All of them may be missing on a cluster. */
import {
  awsClusters,
  awsClusterStaticIdentities,
  awsMachineTemplates,
  azureClusters,
  azureMachineTemplates,
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  devClusters,
  devMachineTemplates,
  gcpClusters,
  gcpMachineTemplates,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  localClusters,
  localMachineTemplates,
  type Resource,
} from "#kube";

/** Their objects cannot be changed, so a change has another name; the old one is deleted when nothing refers to it. */
export const templateKinds: readonly Resource[] = [
  awsMachineTemplates,
  azureMachineTemplates,
  devMachineTemplates,
  gcpMachineTemplates,
  localMachineTemplates,
  kubeadmConfigTemplates,
];

export const childKinds: readonly Resource[] = [
  capiClusters,
  kubeadmControlPlanes,
  capiMachineDeployments,
  capiMachineHealthChecks,
  awsClusters,
  awsClusterStaticIdentities,
  azureClusters,
  devClusters,
  gcpClusters,
  localClusters,
  ...templateKinds,
];
