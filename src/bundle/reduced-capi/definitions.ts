/**
 * Reduced CustomResourceDefinitions of Cluster API: the published 29 need 3 s of CPU and 100 MB in an embedded server, these a small part of it.
 * Specs are checked as far as a user writes them; what the webhooks of the real ones set is a default here where it is a constant.
 */
import {
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachineSets,
  capiMachines,
  capiProviders,
  clusterResourceSetBindings,
  clusterResourceSets,
  devClusters,
  devMachineTemplates,
  devMachines,
  groupResourceOf,
  kubeadmConfigTemplates,
  kubeadmConfigs,
  kubeadmControlPlanes,
  localClusters,
  localMachineTemplates,
  localMachines,
  type JsonObject,
  type KubeObject,
  type Resource,
} from "#kube";
import type { ReducedProvider } from "./inventory.ts";
import * as columns from "./columns.ts";
import * as core from "./core-schemas.ts";
import * as infrastructure from "./infrastructure-schemas.ts";
import * as kubeadm from "./kubeadm-schemas.ts";
import { object, scaledStatus, status, text, type ReducedSchema } from "./schema.ts";

/** What a definition has beside its kind. */
type ReducedKind = {
  readonly resource: Resource;
  readonly provider: string;
  readonly spec: ReducedSchema;
  readonly columns: readonly JsonObject[];
  readonly shortNames?: readonly string[];
  readonly status?: "none" | "scaled";
};

const CORE = "cluster-api";
const BOOTSTRAP = "bootstrap-kubeadm";
const CONTROL_PLANE = "control-plane-kubeadm";
const DOCKER = "infrastructure-docker";
const LOCAL = "infrastructure-local";

const KINDS: readonly ReducedKind[] = [
  { resource: capiClusters, provider: CORE, spec: core.clusterSpec, columns: columns.clusterColumns, shortNames: ["cl"] },
  { resource: capiMachines, provider: CORE, spec: core.machineSpec, columns: columns.machineColumns, shortNames: ["ma"] },
  {
    resource: capiMachineSets,
    provider: CORE,
    spec: core.machineSetSpec,
    columns: columns.machineSetColumns,
    shortNames: ["ms"],
    status: "scaled",
  },
  {
    resource: capiMachineDeployments,
    provider: CORE,
    spec: core.machineDeploymentSpec,
    columns: columns.machineDeploymentColumns,
    shortNames: ["md"],
    status: "scaled",
  },
  {
    resource: capiMachineHealthChecks,
    provider: CORE,
    spec: core.machineHealthCheckSpec,
    columns: columns.machineHealthCheckColumns,
    shortNames: ["mhc", "mhcs"],
  },
  { resource: clusterResourceSets, provider: CORE, spec: core.clusterResourceSetSpec, columns: columns.clusterResourceSetColumns },
  {
    resource: clusterResourceSetBindings,
    provider: CORE,
    spec: core.clusterResourceSetBindingSpec,
    columns: columns.clusterResourceSetBindingColumns,
    status: "none",
  },
  {
    resource: kubeadmControlPlanes,
    provider: CONTROL_PLANE,
    spec: kubeadm.kubeadmControlPlaneSpec,
    columns: columns.kubeadmControlPlaneColumns,
    shortNames: ["kcp"],
    status: "scaled",
  },
  { resource: kubeadmConfigs, provider: BOOTSTRAP, spec: kubeadm.kubeadmConfigSpec, columns: columns.kubeadmConfigColumns },
  {
    resource: kubeadmConfigTemplates,
    provider: BOOTSTRAP,
    spec: kubeadm.kubeadmConfigTemplateSpec,
    columns: columns.kubeadmConfigTemplateColumns,
    status: "none",
  },
  { resource: devClusters, provider: DOCKER, spec: infrastructure.devClusterSpec, columns: columns.infrastructureClusterColumns },
  { resource: devMachines, provider: DOCKER, spec: infrastructure.devMachineSpec, columns: columns.infrastructureMachineColumns },
  { resource: devMachineTemplates, provider: DOCKER, spec: infrastructure.devMachineTemplateSpec, columns: columns.templateColumns },
  { resource: localClusters, provider: LOCAL, spec: infrastructure.localClusterSpec, columns: columns.infrastructureClusterColumns },
  { resource: localMachines, provider: LOCAL, spec: infrastructure.localMachineSpec, columns: columns.infrastructureMachineColumns },
  {
    resource: localMachineTemplates,
    provider: LOCAL,
    spec: infrastructure.localMachineTemplateSpec,
    columns: columns.templateColumns,
  },
];

const SCALE = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" };

/** The kinds of `src/kube/kinds/cluster-api.ts`, in no particular order. */
/** With `infrastructure`: without the kinds of other infrastructure providers, whose objects would wait for ever. */
export function reducedCapiCrds(infrastructure?: ReducedProvider): readonly KubeObject[] {
  const isWanted = ({ provider }: ReducedKind) =>
    infrastructure === undefined || !provider.startsWith("infrastructure-") || provider === `infrastructure-${infrastructure}`;
  return [...KINDS.filter(isWanted).map(definitionOf), providerDefinition()];
}

function definitionOf(kind: ReducedKind): KubeObject {
  const { resource, provider, spec } = kind;
  const hasRequired = Array.isArray(spec["required"]);
  const properties = kind.status === "none" ? { spec } : { spec, status: kind.status === "scaled" ? scaledStatus : status };
  const subresources = kind.status === "none" ? {} : { status: {}, ...(kind.status === "scaled" ? { scale: SCALE } : {}) };
  // core kinds are the contract; the kinds of providers name the version of it that each of their versions implements
  const contract = provider === CORE ? {} : { "cluster.x-k8s.io/v1beta2": resource.version };
  return crd(kind, { schema: object(properties, hasRequired ? ["spec"] : []), subresources, labels: { ...contract } });
}

function providerDefinition(): KubeObject {
  const schema = object({ providerName: text, type: text, version: text, watchedNamespace: text });
  const labels = { "clusterctl.cluster.x-k8s.io/core": "inventory" };
  return crd({ resource: capiProviders, provider: "", columns: columns.providerColumns }, { schema, subresources: {}, labels });
}

type DefinitionParts = { readonly schema: ReducedSchema; readonly subresources: JsonObject; readonly labels: JsonObject };

function crd(kind: Omit<ReducedKind, "spec">, { schema, subresources, labels }: DefinitionParts): KubeObject {
  const { resource, provider, columns: additionalPrinterColumns, shortNames } = kind;
  const { group, version, kind: name, plural } = resource;
  const names = { kind: name, plural, singular: name.toLowerCase(), listKind: `${name}List`, categories: ["cluster-api"] };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: groupResourceOf(resource),
      labels: {
        "clusterctl.cluster.x-k8s.io": "",
        ...(provider === "" ? {} : { "cluster.x-k8s.io/provider": provider }),
        "lattice.dev/reduced": "true",
        ...labels,
      },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: { ...names, ...(shortNames === undefined ? {} : { shortNames }) },
      versions: [
        { name: version, served: true, storage: true, subresources, additionalPrinterColumns, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
  return definition;
}
