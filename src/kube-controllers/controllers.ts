/** The list of controllers: one entry each. The order matters only for logs. */
import { policyStatusController } from "./admission-policies/policy-status.ts";
import { capiController, type LocalMachineHost } from "./capi/index.ts";
import { clusterRoleAggregation } from "./cluster-roles/aggregation.ts";
import type { KubeController } from "./context.ts";
import { disruptionController } from "./disruption/disruption-controller.ts";
import { endpointsController } from "./endpoint-slices/endpoints-controller.ts";
import { endpointSliceController } from "./endpoint-slices/slice-controller.ts";
import { garbageCollector } from "./gc/garbage-collector.ts";
import { namespaceController } from "./namespaces/namespace-controller.ts";
import { nodeLifecycleController, taintEvictionController } from "./nodes/index.ts";
import { podCollector } from "./pods/pod-collector.ts";
import { quotaController } from "./quota/quota-controller.ts";
import { serviceAccountController } from "./service-accounts/default-account.ts";
import { rootCaPublisher } from "./service-accounts/root-ca.ts";
import { workloadControllers, type MetricsSource } from "./workloads/index.ts";

export type KubeControllersSettings = {
  /** PEM, published to every namespace as ConfigMap kube-root-ca.crt. Absent: not published. */
  readonly rootCa?: string | undefined;
  /** How long a deleted namespace is not processed. 5 seconds, as kube-controller-manager; 0 for a single server in this process. */
  readonly namespaceGraceMs?: number | undefined;
  /**
   * The maximum number of Pods that the workload controllers create; 5,000. An owner may have no more Pods than are left, so that one
   * huge workload leaves room for others.
   */
  readonly podLimit?: number | undefined;
  /** The number of finished Pods that are kept; a quarter of `podLimit`, at most 12,500. */
  readonly terminatedPodThreshold?: number | undefined;
  /** Runs the machines of kind LocalMachine. Absent: they stay Pending. */
  readonly localMachines?: LocalMachineHost | undefined;
  /** Resource usage of Pods, for autoscalers. Absent: unknown, as in a cluster without metrics-server. */
  readonly podMetrics?: MetricsSource | undefined;
};

/** They need about 100 MB of memory; a node of Kubernetes allows 110 Pods. */
export const DEFAULT_POD_LIMIT = 5_000;
/** The default of kube-controller-manager. */
const MAX_FINISHED_PODS = 12_500;

export function kubeControllers(settings: KubeControllersSettings = {}): readonly KubeController[] {
  const { rootCa, namespaceGraceMs: graceMs, podLimit = DEFAULT_POD_LIMIT, podMetrics, localMachines } = settings;
  // finished Pods must leave room for new ones, or Jobs would stop
  const { terminatedPodThreshold = Math.min(Math.ceil(podLimit / 4), MAX_FINISHED_PODS) } = settings;
  return [
    garbageCollector,
    namespaceController(graceMs === undefined ? {} : { graceMs }),
    serviceAccountController,
    ...(rootCa === undefined ? [] : [rootCaPublisher(rootCa)]),
    endpointSliceController,
    endpointsController,
    clusterRoleAggregation,
    policyStatusController,
    disruptionController,
    quotaController,
    podCollector({ terminatedPodThreshold }),
    ...workloadControllers(podMetrics === undefined ? {} : { metrics: podMetrics }),
    nodeLifecycleController,
    taintEvictionController,
    capiController({ localMachines }),
  ];
}
