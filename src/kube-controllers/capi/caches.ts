/** The informers of the simulator. Every kind is optional: without the definitions of Cluster API nothing is listed or watched. */
import { memoizeByObject } from "#base";
import type { Informer } from "#controller-runtime";
import * as kube from "#kube";
import type { KubeObject, ObjectKey, Resource } from "#kube";
import type { SharedInformers } from "../shared-informers.ts";
import { indexByController } from "../workloads/pods/owners.ts";
import { clusterKeyOf, type CapiObject, type CapiRef } from "./objects.ts";

const {
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  capiMachineSets,
  capiProviders,
  clusterResourceSetBindings,
  clusterResourceSets,
  devClusters,
  devMachines,
  devMachineTemplates,
  kubeadmConfigs,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  localClusters,
  localMachines,
  localMachineTemplates,
} = kube;

const RESOURCES = {
  clusters: capiClusters,
  machines: capiMachines,
  machineSets: capiMachineSets,
  machineDeployments: capiMachineDeployments,
  healthChecks: capiMachineHealthChecks,
  controlPlanes: kubeadmControlPlanes,
  configs: kubeadmConfigs,
  configTemplates: kubeadmConfigTemplates,
  resourceSets: clusterResourceSets,
  bindings: clusterResourceSetBindings,
  devClusters,
  devMachines,
  devMachineTemplates,
  localClusters,
  localMachines,
  localMachineTemplates,
  providers: capiProviders,
} satisfies Record<string, Resource>;

export type CapiKind = keyof typeof RESOURCES;
export type CapiCache = Informer<CapiObject>;

const BY_CLUSTER = "capi/by-cluster";
const indexByCluster = memoizeByObject((informer: Pick<CapiCache, "addIndex">) => {
  informer.addIndex(BY_CLUSTER, (object) => [clusterIndex(clusterKeyOf(object))]);
  return true;
});
const clusterIndex = (key: ObjectKey | undefined) => (key === undefined ? "" : kube.keyText(key));

export class CapiCaches {
  readonly #informers: ReadonlyMap<CapiKind, CapiCache>;
  /** Metadata of Secrets: the garbage collector has it anyway. */
  readonly secrets: Informer<KubeObject>;
  readonly #definitions: Informer<KubeObject>;

  constructor(informers: SharedInformers) {
    const opened = Object.entries(RESOURCES).map(([kind, resource]) => {
      const informer = indexByController(informers.optional<CapiObject>(resource));
      indexByCluster(informer);
      return [kind as CapiKind, informer] as const;
    });
    this.#informers = new Map(opened);
    this.secrets = informers.metadata(kube.secrets);
    this.#definitions = informers.metadata(kube.customResourceDefinitions);
  }

  of(kind: CapiKind): CapiCache {
    const informer = this.#informers.get(kind);
    if (informer === undefined) throw new Error(`no informer of ${kind}`);
    return informer;
  }

  get(kind: CapiKind, key: ObjectKey): CapiObject | undefined {
    return this.of(kind).get(key);
  }

  /** The objects of a kind that belong to the cluster, by field or label. */
  inCluster(kind: CapiKind, cluster: ObjectKey): readonly CapiObject[] {
    return this.of(kind).byIndex(BY_CLUSTER, clusterIndex(cluster));
  }

  clusterOf(object: KubeObject): CapiObject | undefined {
    const key = clusterKeyOf(object);
    return key === undefined ? undefined : this.get("clusters", key);
  }

  /** The kind of a reference, if the simulator has it. */
  kindOf({ apiGroup, kind }: CapiRef): CapiKind | undefined {
    return KIND_OF_REF.get(`${kind}.${apiGroup}`);
  }

  resolve(namespace: string | undefined, ref: CapiRef | undefined): CapiObject | undefined {
    const kind = ref === undefined ? undefined : this.kindOf(ref);
    return ref === undefined || kind === undefined ? undefined : this.get(kind, { namespace, name: ref.name });
  }

  /** The kind is a reduced one. Beside the published definitions the real controllers run, and this one must not. */
  isReduced(kind: CapiKind): boolean {
    const name = kube.groupResourceOf(RESOURCES[kind]);
    return this.#definitions.get({ name })?.metadata.labels?.["lattice.dev/reduced"] === "true";
  }

  hasProvider(type: string, providerName: string): boolean {
    return this.of("providers")
      .list()
      .some((provider) => kube.field(provider, "type") === type && kube.field(provider, "providerName") === providerName);
  }
}

const KIND_OF_REF: ReadonlyMap<string, CapiKind> = new Map(
  Object.entries(RESOURCES).map(([name, { kind, group }]) => [`${kind}.${group}`, name as CapiKind]),
);

export const resourceOf = (kind: CapiKind): Resource<CapiObject> => RESOURCES[kind];
