/** The number of replicas, and the PodDisruptionBudget. */
import type { KubeObject } from "#kube";
import type { Claim } from "../provisioners/index.ts";
import type { Replicas } from "./deployment.ts";
import { metadataFor, SERVICE_LABEL, type WorkloadOwner } from "./names.ts";
import type { CompiledObject } from "./once.ts";

const CPU_UTILIZATION = 80;

export function compileAutoscaler(owner: WorkloadOwner, { min, max }: Replicas): CompiledObject | undefined {
  if (max === undefined) return undefined;
  return {
    object: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: metadataFor(owner, owner.name),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: owner.name },
        minReplicas: min,
        maxReplicas: max,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: CPU_UTILIZATION } } }],
      },
    } as unknown as KubeObject,
  };
}

/** One pod at a time may be evicted. A single pod has no budget, since its node could not be drained. */
export function compileDisruptionBudget(owner: WorkloadOwner, { min }: Replicas): CompiledObject | undefined {
  if (min < 2) return undefined;
  return {
    object: {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: metadataFor(owner, owner.name),
      // not by app.kubernetes.io/name, which Flagger changes on the pods that carry the traffic
      spec: { maxUnavailable: 1, selector: { matchLabels: { [SERVICE_LABEL]: owner.name } } },
    } as unknown as KubeObject,
  };
}

export function compileClaim(owner: WorkloadOwner, { name, size, accessModes, storageClassName }: Claim): CompiledObject {
  return {
    object: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: metadataFor(owner, name),
      spec: { accessModes, resources: { requests: { storage: size } }, ...(storageClassName === undefined ? {} : { storageClassName }) },
    } as unknown as KubeObject,
  };
}
