/** Whether a node should run the daemon Pod, and whether an existing one may stay. A NoSchedule taint forbids only the first. */
import type { DaemonSet, Node } from "#kube";
import { matchesNode } from "../placement/node-affinity.ts";
import { NO_EXECUTE, NO_SCHEDULE, untolerated } from "../placement/taints.ts";
import { daemonTolerations } from "./daemon-pods.ts";

export type Eligibility = { readonly run: boolean; readonly stay: boolean };

export function eligibility({ spec }: DaemonSet, node: Node): Eligibility {
  const { spec: pod } = spec.template;
  const named = (pod.nodeName ?? "") === "" || pod.nodeName === node.metadata.name;
  if (!named || !matchesNode(pod, node)) return { run: false, stay: false };
  const taints = node.spec?.taints ?? [];
  const tolerations = daemonTolerations(pod);
  if (untolerated(taints, tolerations, [NO_EXECUTE, NO_SCHEDULE]) === undefined) return { run: true, stay: true };
  return { run: false, stay: untolerated(taints, tolerations, [NO_EXECUTE]) === undefined };
}
