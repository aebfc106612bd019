import type { KubeController } from "../context.ts";
import { autoscalerController } from "./autoscaling/autoscaler-controller.ts";
import { noMetrics, type MetricsSource } from "./autoscaling/metrics-source.ts";
import { attributesClassProtection, claimProtection, volumeProtection } from "./claims/volume-protection.ts";
import { cronJobController } from "./cron-jobs/cron-job-controller.ts";
import { daemonSetController } from "./daemon-sets/daemon-set-controller.ts";
import { deploymentController } from "./deployments/deployment-controller.ts";
import { jobController } from "./jobs/job-controller.ts";
import { ttlAfterFinishedController } from "./jobs/ttl-controller.ts";
import { replicaSetController, replicationControllerController } from "./replica-sets/replica-set-controller.ts";
import { statefulSetController } from "./stateful-sets/stateful-set-controller.ts";

export type { MetricsSource };

export type WorkloadSettings = {
  /** Resource usage of Pods, for autoscalers. Absent: unknown, as in a cluster without metrics-server. */
  readonly metrics?: MetricsSource | undefined;
};

/** The workload controllers of kube-controller-manager. */
export function workloadControllers({ metrics = noMetrics }: WorkloadSettings = {}): readonly KubeController[] {
  return [
    deploymentController,
    replicaSetController,
    replicationControllerController,
    statefulSetController,
    daemonSetController,
    jobController,
    cronJobController,
    ttlAfterFinishedController,
    claimProtection,
    volumeProtection,
    attributesClassProtection,
    autoscalerController(metrics),
  ];
}
