/** Kinds of Cluster API (v1beta2 contract), of its inventory, and of the infrastructure of `local` clusters. They are optional in a cluster. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";

const capi = (group: string, kind: string, plural: string) =>
  defineResource<KubeObject>({ group, version: "v1beta2", kind, plural, namespaced: true });
const core = (kind: string, plural: string) => capi("cluster.x-k8s.io", kind, plural);
const infrastructure = (kind: string, plural: string) => capi("infrastructure.cluster.x-k8s.io", kind, plural);
/** The providers of Google Cloud and Azure serve only v1beta1. */
const infrastructureV1beta1 = (kind: string, plural: string) =>
  defineResource<KubeObject>({ group: "infrastructure.cluster.x-k8s.io", version: "v1beta1", kind, plural, namespaced: true });
const local = (kind: string, plural: string) =>
  defineResource<KubeObject>({ group: "infrastructure.lattice.dev", version: "v1alpha1", kind, plural, namespaced: true });

export const capiClusters = core("Cluster", "clusters");
export const capiMachines = core("Machine", "machines");
export const capiMachineSets = core("MachineSet", "machinesets");
export const capiMachineDeployments = core("MachineDeployment", "machinedeployments");
export const capiMachineHealthChecks = core("MachineHealthCheck", "machinehealthchecks");
export const kubeadmControlPlanes = capi("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "kubeadmcontrolplanes");
export const kubeadmConfigs = capi("bootstrap.cluster.x-k8s.io", "KubeadmConfig", "kubeadmconfigs");
export const kubeadmConfigTemplates = capi("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "kubeadmconfigtemplates");
export const clusterResourceSets = capi("addons.cluster.x-k8s.io", "ClusterResourceSet", "clusterresourcesets");
export const clusterResourceSetBindings = capi("addons.cluster.x-k8s.io", "ClusterResourceSetBinding", "clusterresourcesetbindings");
export const devClusters = infrastructure("DevCluster", "devclusters");
export const devMachines = infrastructure("DevMachine", "devmachines");
export const devMachineTemplates = infrastructure("DevMachineTemplate", "devmachinetemplates");
export const awsClusters = infrastructure("AWSCluster", "awsclusters");
export const awsMachineTemplates = infrastructure("AWSMachineTemplate", "awsmachinetemplates");
export const awsClusterStaticIdentities = defineResource<KubeObject>({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "AWSClusterStaticIdentity",
  plural: "awsclusterstaticidentities",
  namespaced: false,
});
export const gcpClusters = infrastructureV1beta1("GCPCluster", "gcpclusters");
export const gcpMachineTemplates = infrastructureV1beta1("GCPMachineTemplate", "gcpmachinetemplates");
export const azureClusters = infrastructureV1beta1("AzureCluster", "azureclusters");
export const azureClusterIdentities = infrastructureV1beta1("AzureClusterIdentity", "azureclusteridentities");
export const azureMachineTemplates = infrastructureV1beta1("AzureMachineTemplate", "azuremachinetemplates");
export const localClusters = local("LocalCluster", "localclusters");
export const localMachines = local("LocalMachine", "localmachines");
export const localMachineTemplates = local("LocalMachineTemplate", "localmachinetemplates");
/** The inventory of clusterctl: one per installed provider. */
export const capiProviders = defineResource<KubeObject>({
  group: "clusterctl.cluster.x-k8s.io",
  version: "v1alpha3",
  kind: "Provider",
  plural: "providers",
  namespaced: true,
});
