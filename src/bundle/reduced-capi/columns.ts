/** Printer columns of `kubectl get`, as the published definitions have them. */
import type { JsonObject } from "#kube";

const column = (name: string, type: string, jsonPath: string, priority = 0): JsonObject => ({
  name,
  type,
  jsonPath,
  ...(priority === 0 ? {} : { priority }),
});
const string = (name: string, jsonPath: string, priority = 0) => column(name, "string", jsonPath, priority);
const integer = (name: string, jsonPath: string, priority = 0) => column(name, "integer", jsonPath, priority);
const condition = (name: string, type: string, priority = 0) => string(name, `.status.conditions[?(@.type=="${type}")].status`, priority);
const address = (name: string, type: string) => string(name, `.status.addresses[?(@.type=="${type}")].address`, 10);

const age = column("Age", "date", ".metadata.creationTimestamp");
const paused = condition("Paused", "Paused", 10);
const clusterLabel = string("Cluster", ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']");
const clusterName = string("Cluster", ".spec.clusterName");
const replicas = [
  integer("Desired", ".spec.replicas"),
  integer("Current", ".status.replicas"),
  integer("Ready", ".status.readyReplicas"),
  integer("Available", ".status.availableReplicas"),
  integer("Up-to-date", ".status.upToDateReplicas"),
];
const phase = string("Phase", ".status.phase");
const templateVersion = string("Version", ".spec.template.spec.version");
const owner = (name: string) => string(name, `.metadata.ownerReferences[?(@.kind=="${name}")].name`);
const groupColumns = (prefix: string, field: string) => [
  integer(`${prefix} Desired`, `.status.${field}.desiredReplicas`),
  integer(`${prefix} Current`, `.status.${field}.replicas`, 10),
  integer(`${prefix} Ready`, `.status.${field}.readyReplicas`, 10),
  integer(`${prefix} Available`, `.status.${field}.availableReplicas`),
  integer(`${prefix} Up-to-date`, `.status.${field}.upToDateReplicas`),
];

export const clusterColumns = [
  string("ClusterClass", ".spec.topology.classRef.name"),
  condition("Available", "Available"),
  ...groupColumns("CP", "controlPlane"),
  ...groupColumns("W", "workers"),
  paused,
  phase,
  age,
  string("Version", ".spec.topology.version"),
];
export const machineColumns = [
  clusterName,
  string("Node Name", ".status.nodeRef.name"),
  string("Provider ID", ".spec.providerID", 10),
  string("Failure domain", ".status.failureDomain"),
  condition("Ready", "Ready"),
  condition("Available", "Available"),
  condition("Up-to-date", "UpToDate"),
  address("Internal-IP", "InternalIP"),
  address("External-IP", "ExternalIP"),
  string("OS-Image", ".status.nodeInfo.osImage", 10),
  paused,
  phase,
  age,
  string("Version", ".spec.version"),
];
export const machineSetColumns = [clusterName, ...replicas, paused, age, templateVersion];
export const machineDeploymentColumns = [
  clusterName,
  condition("Available", "Available"),
  ...replicas,
  paused,
  phase,
  age,
  templateVersion,
];
export const machineHealthCheckColumns = [
  clusterName,
  integer("Replicas", ".status.expectedMachines"),
  integer("Healthy", ".status.currentHealthy"),
  paused,
  age,
];
export const kubeadmControlPlaneColumns = [
  clusterLabel,
  condition("Available", "Available"),
  ...replicas,
  paused,
  column("Initialized", "boolean", ".status.initialization.controlPlaneInitialized"),
  age,
  string("Version", ".spec.version"),
];
export const kubeadmConfigColumns = [clusterLabel, paused, string("Data secret created", ".status.initialization.dataSecretCreated"), age];
export const kubeadmConfigTemplateColumns = [owner("ClusterClass"), owner("Cluster"), age];
export const clusterResourceSetColumns = [condition("Applied", "ResourcesApplied"), paused, age];
export const clusterResourceSetBindingColumns = [clusterName, age];
export const infrastructureClusterColumns = [clusterLabel, age];
export const infrastructureMachineColumns = [
  clusterLabel,
  string("Provider ID", ".spec.providerID", 10),
  string("Failure domain", ".status.failureDomain"),
  address("IP", "InternalIP"),
  paused,
  string("Provisioned", ".status.initialization.provisioned"),
  age,
];
export const templateColumns = [age];
export const providerColumns = [age, string("Type", ".type"), string("Provider", ".providerName"), string("Version", ".version")];
