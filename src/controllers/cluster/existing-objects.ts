/** The Cluster API objects of a cluster that a compilation starts from, and the templates that are still in use. Reads of the cache. */
import { capiNamespace, CLUSTER_NAME_LABEL, controlPlaneName, templatesToPrune } from "#cluster-compiler";
import type { CacheReader } from "#controller-runtime";
import {
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  capiMachineSets,
  describeObject,
  kubeadmControlPlanes,
  type KubeObject,
} from "#kube";
import { templateKinds } from "./owned-kinds.ts";

export type ExistingCluster = {
  readonly controlPlane: KubeObject | undefined;
  readonly pools: readonly KubeObject[];
  readonly machines: readonly KubeObject[];
};

export function existingObjects(cache: CacheReader, name: string): ExistingCluster {
  const namespace = capiNamespace(name);
  const ofCluster = ({ metadata }: KubeObject) => metadata.labels?.[CLUSTER_NAME_LABEL] === name;
  return {
    controlPlane: cache.get(kubeadmControlPlanes, { namespace, name: controlPlaneName(name) }),
    pools: cache.list(capiMachineDeployments, namespace).filter(ofCluster),
    machines: cache.list(capiMachines, namespace).filter(ofCluster),
  };
}

/** "Kind namespace/name" of objects that are not planned and stay: templates in use, and pools that are created later in an upgrade. */
export function keptObjects(cache: CacheReader, namespace: string, later: readonly string[]): ReadonlySet<string> {
  const users = [kubeadmControlPlanes, capiMachineDeployments, capiMachineSets].flatMap((kind) => cache.list(kind, namespace));
  const templates = templateKinds.flatMap((kind) => cache.list(kind, namespace));
  const unused = new Set(templatesToPrune(templates, users));
  const pools = later.flatMap((name) =>
    [capiMachineDeployments, capiMachineHealthChecks].map(({ kind }) => `${kind} ${namespace}/${name}`),
  );
  return new Set([...templates.filter((one) => !unused.has(one)).map(describeObject), ...pools]);
}
