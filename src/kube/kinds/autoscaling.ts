/** `autoscaling/v2` HorizontalPodAutoscaler, and the Scale that the scale subresource of a kind returns. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { TruthStatus } from "./pod.ts";

export type MetricTarget = {
  readonly type: string;
  readonly value?: string | number;
  readonly averageValue?: string | number;
  readonly averageUtilization?: number;
};

export type MetricSpec = {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly target: MetricTarget };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly target: MetricTarget };
};

export type MetricValue = { readonly averageUtilization?: number; readonly averageValue?: string };
export type MetricStatus = {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly current: MetricValue };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly current: MetricValue };
};

export type ScalingPolicy = { readonly type: string; readonly value: number; readonly periodSeconds: number };
export type ScalingRules = {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: string;
  readonly policies?: readonly ScalingPolicy[];
  readonly tolerance?: string | number;
};

export type AutoscalerCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type AutoscalerStatus = {
  readonly observedGeneration?: number;
  readonly lastScaleTime?: string;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly MetricStatus[] | null;
  readonly conditions?: readonly AutoscalerCondition[];
};

export type Autoscaler = KubeObject & {
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly MetricSpec[];
    readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
  };
  readonly status?: AutoscalerStatus;
};

export type Scale = KubeObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
};

export const horizontalPodAutoscalers = defineResource<Autoscaler>({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
});
export const scales = defineResource<Scale>({ group: "autoscaling", version: "v1", kind: "Scale", plural: "scales", namespaced: true });
