import type { Taint, Toleration } from "#kube";
/** Taints and tolerations: they keep a Pod off a node, or evict it. */

export const NO_SCHEDULE = "NoSchedule";
export const NO_EXECUTE = "NoExecute";

export const NODE_NOT_READY = "node.kubernetes.io/not-ready";
export const NODE_UNREACHABLE = "node.kubernetes.io/unreachable";
export const NODE_UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

export function tolerates({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return operator === "Equal" && value === (taint.value ?? "");
}

/** The first taint with one of these effects that is not tolerated. */
export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[], effects: readonly string[]): Taint | undefined {
  return taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)));
}
