/** The Pods of a DaemonSet: created for one node each, and identified by it. Pure. */
import type { Affinity, DaemonSet, Pod, PodSpec, PodTemplate, Toleration } from "#kube";
import { NO_EXECUTE, NO_SCHEDULE, NODE_NOT_READY, NODE_UNREACHABLE, NODE_UNSCHEDULABLE } from "../placement/taints.ts";
import { timeOf } from "../pods/pod-state.ts";
import { annotationOf } from "../deployments/revisions.ts";

export const HASH_LABEL = "controller-revision-hash";
const GENERATION_LABEL = "pod-template-generation";
const GENERATION_ANNOTATION = "deprecated.daemonset.template.generation";

const ALWAYS_TOLERATED: readonly Toleration[] = [
  { key: NODE_NOT_READY, operator: "Exists", effect: NO_EXECUTE },
  { key: NODE_UNREACHABLE, operator: "Exists", effect: NO_EXECUTE },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: NO_SCHEDULE },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: NO_SCHEDULE },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: NO_SCHEDULE },
  { key: NODE_UNSCHEDULABLE, operator: "Exists", effect: NO_SCHEDULE },
];
const ON_HOST_NETWORK: Toleration = { key: "node.kubernetes.io/network-unavailable", operator: "Exists", effect: NO_SCHEDULE };

/** Tolerations of every daemon Pod: it must run on nodes that other Pods are evicted from. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const wanted = hostNetwork === true ? [...ALWAYS_TOLERATED, ON_HOST_NETWORK] : ALWAYS_TOLERATED;
  const isSame = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && (a.operator ?? "Equal") === (b.operator ?? "Equal") && (a.value ?? "") === (b.value ?? "");
  const replaced = tolerations.map((known) => wanted.find((one) => isSame(one, known)) ?? known);
  return [...replaced, ...wanted.filter((one) => !tolerations.some((known) => isSame(one, known)))];
}

export function templateGeneration(set: DaemonSet): string | undefined {
  return annotationOf(set, GENERATION_ANNOTATION);
}

export function templateFor(set: DaemonSet, node: string, hash: string): PodTemplate {
  const { template } = set.spec;
  const generation = templateGeneration(set);
  const labels = {
    ...template.metadata?.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
    [HASH_LABEL]: hash,
  };
  const affinity = onlyOn(template.spec.affinity, node);
  return {
    metadata: { ...template.metadata, labels },
    spec: { ...template.spec, affinity, tolerations: daemonTolerations(template.spec) },
  };
}

/** The scheduler binds the Pod, but only one node is possible. */
function onlyOn(affinity: Affinity | undefined, node: string): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }];
  const required = { nodeSelectorTerms };
  return { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required } };
}

/** The node of a Pod or its required node; undefined when it has none. */
export function targetNode({ spec }: Pod): string | undefined {
  if ((spec.nodeName ?? "") !== "") return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  const name = fields.find(({ key, operator }) => key === "metadata.name" && operator === "In");
  return name?.values?.length === 1 ? name.values[0] : undefined;
}

export function isUpdated({ metadata: { labels = {} } }: Pod, hash: string, generation: string | undefined): boolean {
  return (hash !== "" && labels[HASH_LABEL] === hash) || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

/** Bound ones first, then the oldest. */
export function oldestFirst(pods: readonly Pod[]): readonly Pod[] {
  const isBound = ({ spec }: Pod) => ((spec.nodeName ?? "") === "" ? 1 : 0);
  return pods.toSorted(
    (a, b) =>
      isBound(a) - isBound(b) ||
      timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
}
