/** The required terms of a Pod's (anti-)affinity to other Pods, ready to be matched. Pure. */
import { matches, requirementsOf, type Pod, type PodAffinityTerm } from "#kube";

export type PodTerm = {
  readonly topologyKey: string;
  /** Whether the term is about this Pod. */
  readonly isMeant: (other: Pod) => boolean;
};

export function affinityTerms(pod: Pod): readonly PodTerm[] {
  return (pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => podTerm(term, pod));
}

export function antiAffinityTerms(pod: Pod): readonly PodTerm[] {
  return (pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => podTerm(term, pod));
}

function podTerm({ labelSelector, namespaces = [], topologyKey }: PodAffinityTerm, owner: Pod): PodTerm {
  const requirements = labelSelector === undefined ? undefined : requirementsOf(labelSelector);
  const isMeant = ({ metadata: { namespace = "", labels } }: Pod) => {
    const inNamespace = namespaces.length === 0 ? namespace === owner.metadata.namespace : namespaces.includes(namespace);
    return inNamespace && requirements !== undefined && matches(requirements, labels);
  };
  return { topologyKey, isMeant };
}
