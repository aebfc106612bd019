import type { Pod } from "#kube";
/** The source of the usage of Pods. A real cluster has metrics-server; the simulation declares it. */

export interface MetricsSource {
  /** Of the Pod or of one container, in thousandths of the unit (milli-cores, milli-bytes); undefined when it is not known. */
  milliUsage(pod: Pod, resource: string, container?: string): number | undefined;
}

/** Like a cluster without metrics-server. */
export const noMetrics: MetricsSource = { milliUsage: () => undefined };
