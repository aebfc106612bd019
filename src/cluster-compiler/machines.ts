/** MachineDeployments of the pools, and the health checks that replace machines whose node is gone. */
import type { LatticeCluster } from "#crds";
import { capiMachineDeployments, capiMachineHealthChecks, kubeadmConfigTemplates, type JsonObject, type KubeObject } from "#kube";
import type { ClusterContext, WantedClusterObject, WorkerPool } from "./input.ts";
import { controlPlaneName } from "./names.ts";
import { clusterObject, referenceTo } from "./objects.ts";
import type { ProviderParts } from "./providers/provider.ts";
import { drainOf, rolloutOf } from "./upgrade.ts";

const MIN_SIZE_ANNOTATION = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX_SIZE_ANNOTATION = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

type PoolInput = {
  readonly cluster: LatticeCluster;
  readonly context: ClusterContext;
  readonly parts: ProviderParts;
  readonly pool: WorkerPool;
  /** Names of the templates of the machines and of their kubeadm config. */
  readonly templates: { readonly machine: string; readonly config: string };
  readonly version: string;
};

/** The replicas of a pool with bounds belong to the autoscaler once they are written. */
export function compilePool({ cluster, context, parts, pool, templates, version }: PoolInput): WantedClusterObject {
  const { bounds, replicas } = pool;
  const spec: JsonObject = {
    clusterName: context.name,
    ...(bounds === undefined ? { replicas } : {}),
    // the webhook of Cluster API adds its own labels
    selector: { matchLabels: {} },
    rollout: rolloutOf(cluster.spec.upgrade),
    template: {
      spec: {
        clusterName: context.name,
        version,
        bootstrap: { configRef: referenceTo(kubeadmConfigTemplates, templates.config) },
        infrastructureRef: referenceTo(parts.machines, templates.machine),
        ...drainOf(cluster.spec.upgrade),
      },
    },
  };
  if (bounds === undefined) return { object: clusterObject(capiMachineDeployments, context, { name: pool.name, spec }) };
  const annotations = { [MIN_SIZE_ANNOTATION]: String(bounds.min), [MAX_SIZE_ANNOTATION]: String(bounds.max) };
  return { object: clusterObject(capiMachineDeployments, context, { name: pool.name, annotations, spec }), once: { spec: { replicas } } };
}

/** A kubelet that is gone; a node that stays not ready, which a new cluster is until its network is installed. */
const CHECKS = {
  nodeStartupTimeoutSeconds: 1_200,
  unhealthyNodeConditions: [
    { type: "Ready", status: "Unknown", timeoutSeconds: 300 },
    { type: "Ready", status: "False", timeoutSeconds: 900 },
  ],
} as const;

export function compileControlPlaneCheck(context: ClusterContext): KubeObject {
  return healthCheck(context, controlPlaneName(context.name), { "cluster.x-k8s.io/control-plane": "" }, 1);
}

/** When more machines than that are unhealthy, the cause is probably not the machines: none is replaced. */
export function compilePoolCheck(context: ClusterContext, { name, replicas, bounds }: WorkerPool): KubeObject {
  const few = Math.max(replicas, bounds?.max ?? 0) <= 2;
  return healthCheck(context, name, { "cluster.x-k8s.io/deployment-name": name }, few ? 1 : "40%");
}

function healthCheck(context: ClusterContext, name: string, matchLabels: JsonObject, most: number | string): KubeObject {
  return clusterObject(capiMachineHealthChecks, context, {
    name,
    spec: {
      clusterName: context.name,
      selector: { matchLabels },
      checks: CHECKS,
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: most } },
    },
  });
}
