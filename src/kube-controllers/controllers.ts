/** The list of what runs: one entry per controller. Order matters to nobody but people who read logs. */
import { policyStatusController } from "./admission-policies/policy-status.ts";
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
  /** How long a deleted namespace is left alone. 5 seconds, as kube-controller-manager; 0 for a single server in this process. */
  readonly namespaceGraceMs?: number | undefined;
  /** So many finished Pods are kept; 12,500. */
  readonly terminatedPodThreshold?: number | undefined;
  /** What Pods use, for autoscalers. Absent: nobody knows, as in a cluster without metrics-server. */
  readonly podMetrics?: MetricsSource | undefined;
};

export function kubeControllers(settings: KubeControllersSettings = {}): readonly KubeController[] {
  const { rootCa, namespaceGraceMs: graceMs, terminatedPodThreshold, podMetrics } = settings;
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
    podCollector(terminatedPodThreshold === undefined ? {} : { terminatedPodThreshold }),
    ...workloadControllers(podMetrics === undefined ? {} : { metrics: podMetrics }),
    nodeLifecycleController,
    taintEvictionController,
  ];
}
