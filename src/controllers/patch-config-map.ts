/**
 * The patch of a Deployment, as it is stored: one ConfigMap in the operator's own namespace, where only administrators write. Every replica of the
 * operator reads it, and its webhook applies it (ADR 0029).
 */
import { sha256Hex } from "#base";
import { configMaps, fieldAt, type KubeObject } from "#kube";
import { formatWorkloadPatch, parseWorkloadPatch, type WorkloadPatch } from "#workload-patch";

const PATCH_LABEL = "lattice.dev/workload-patch";
const PATCH_KEY = "patch.json";

type Target = WorkloadPatch["target"];

/** The name of the ConfigMap with the patch of this Deployment. */
export function patchName({ namespace, name }: Target): string {
  return `workload-patch-${sha256Hex(`${namespace}/${name}`).slice(0, 16)}`;
}

export function patchConfigMap(patch: WorkloadPatch, home: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: configMaps.kind,
    metadata: { name: patchName(patch.target), namespace: home, labels: { [PATCH_LABEL]: "true" } },
    data: { [PATCH_KEY]: formatWorkloadPatch(patch) },
  } as KubeObject;
}

/** A patch that takes the changes of a service off its Deployment. */
export function detachingPatch(service: string, target: Target): WorkloadPatch {
  return { version: 1, service, target, patch: {}, envFrom: {}, variables: {}, detach: true };
}

/** The stored patch; undefined: the ConfigMap has none that can be read. */
export function patchIn(configMap: KubeObject | undefined): WorkloadPatch | undefined {
  const text = fieldAt(configMap, "data", PATCH_KEY);
  const parsed = typeof text === "string" ? parseWorkloadPatch(text) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

/** Identifies a patch in the annotation that requests it. */
export function patchDigest(patch: WorkloadPatch): string {
  return sha256Hex(formatWorkloadPatch(patch)).slice(0, 16);
}
