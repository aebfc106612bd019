/** The kinds of the objects that are applied for a child, of all providers. All but Namespaces may be missing on a cluster. */
import {
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  devClusters,
  devMachineTemplates,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  localClusters,
  localMachineTemplates,
  namespaces,
  type Resource,
} from "#kube";

/** Their objects cannot be changed, so a change has another name; the old one is deleted when nothing refers to it. */
export const templateKinds: readonly Resource[] = [devMachineTemplates, localMachineTemplates, kubeadmConfigTemplates];

export const childKinds: readonly Resource[] = [
  namespaces,
  capiClusters,
  kubeadmControlPlanes,
  capiMachineDeployments,
  capiMachineHealthChecks,
  devClusters,
  localClusters,
  ...templateKinds,
];

export const optionalChildKinds: readonly Resource[] = childKinds.filter((kind) => kind !== namespaces);
