/** Identities in a StatefulSet: ordinals, names, labels, and the Pods and claims that are created from them. Pure. */
import {
  persistentVolumeClaims,
  statefulSets,
  type ClaimTemplate,
  type PersistentVolumeClaim,
  type Pod,
  type PodTemplate,
  type StatefulSet,
  type Volume,
} from "#kube";
import { podFromTemplate } from "../pods/pod-control.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";

const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";
const REVISION_LABEL = "controller-revision-hash";

/** The part before the last dash, and the number after it; -1 when there is none. `start` and `replicas` together may have ten digits. */
export function parentAndOrdinal(podName: string): { readonly parent: string; readonly ordinal: number } {
  const dash = podName.lastIndexOf("-");
  const digits = podName.slice(dash + 1);
  return dash < 0 || !/^[0-9]{1,10}$/.test(digits)
    ? { parent: "", ordinal: -1 }
    : { parent: podName.slice(0, dash), ordinal: Number(digits) };
}

export function ordinalOf({ metadata }: Pod): number {
  return parentAndOrdinal(metadata.name).ordinal;
}

export function startOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= startOrdinal(set) && ordinal < startOrdinal(set) + replicasOf(set);
}

export function isMember(set: StatefulSet, { metadata }: Pod): boolean {
  return parentAndOrdinal(metadata.name).parent === set.metadata.name;
}

export function podRevision({ metadata: { labels = {} } }: Pod): string {
  return Object.hasOwn(labels, REVISION_LABEL) ? (labels[REVISION_LABEL] ?? "") : "";
}

function claimName(set: StatefulSet, { metadata }: ClaimTemplate, ordinal: number): string {
  return `${metadata.name}-${set.metadata.name}-${ordinal}`;
}

export function newPod(set: StatefulSet, template: PodTemplate, ordinal: number, revision: string): Pod {
  const made = podFromTemplate({ object: set, resource: statefulSets }, template);
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = { ...made.metadata.labels, [REVISION_LABEL]: revision };
  const { serviceName = "" } = set.spec;
  const pod: Pod = {
    ...made,
    metadata: { ...made.metadata, name, labels },
    spec: { ...made.spec, hostname: name, ...(serviceName === "" ? {} : { subdomain: serviceName }) },
  };
  return withStorage(set, withIdentity(set, pod));
}

export function withIdentity(set: StatefulSet, pod: Pod): Pod {
  const { name } = pod.metadata;
  const labels = { ...pod.metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinalOf(pod)) };
  return { ...pod, metadata: { ...pod.metadata, namespace: set.metadata.namespace ?? "", labels } };
}

export function withStorage(set: StatefulSet, pod: Pod): Pod {
  const templates = set.spec.volumeClaimTemplates ?? [];
  if (templates.length === 0) return pod;
  const own = templates.map((template): Volume => {
    return { name: template.metadata.name, persistentVolumeClaim: { claimName: claimName(set, template, ordinalOf(pod)) } };
  });
  const names = new Set(own.map(({ name }) => name));
  const others = (pod.spec.volumes ?? []).filter(({ name }) => !names.has(name));
  return { ...pod, spec: { ...pod.spec, volumes: [...own, ...others] } };
}

export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  const { name, namespace, labels = {} } = pod.metadata;
  const { parent, ordinal } = parentAndOrdinal(name);
  return ordinal >= 0 && parent === set.metadata.name && namespace === set.metadata.namespace && labels[POD_NAME_LABEL] === name;
}

export function hasStorage(set: StatefulSet, pod: Pod): boolean {
  const volumes = new Map((pod.spec.volumes ?? []).toReversed().map((volume) => [volume.name, volume]));
  return (set.spec.volumeClaimTemplates ?? []).every((template) => {
    const volume = volumes.get(template.metadata.name);
    return volume?.persistentVolumeClaim?.claimName === claimName(set, template, ordinalOf(pod));
  });
}

/** The claims that a Pod needs, as they are created when missing. */
export function claimsFor(set: StatefulSet, ordinal: number): readonly PersistentVolumeClaim[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    ...template,
    apiVersion: persistentVolumeClaims.version,
    kind: persistentVolumeClaims.kind,
    metadata: {
      ...template.metadata,
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace ?? "",
      labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
    },
    spec: template.spec as unknown as PersistentVolumeClaim["spec"],
    status: {},
  }));
}
