/** The ConfigMap with the patch of a Deployment, as the controllers write and read it. */
import { sha256Hex } from "#base";
import { configMaps, fieldAt, type KubeObject } from "#kube";
import {
  formatWorkloadPatch,
  parseWorkloadPatch,
  WORKLOAD_PATCH_KEY,
  WORKLOAD_PATCH_LABEL,
  workloadPatchName,
  type WorkloadPatch,
  type WorkloadTarget,
} from "#workload-patch";

export function patchConfigMap(patch: WorkloadPatch, home: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: configMaps.kind,
    metadata: { name: workloadPatchName(patch.target), namespace: home, labels: { [WORKLOAD_PATCH_LABEL]: "true" } },
    data: { [WORKLOAD_PATCH_KEY]: formatWorkloadPatch(patch) },
  } as KubeObject;
}

/** A patch that takes the changes of a service off its Deployment. */
export function detachingPatch(service: string, target: WorkloadTarget): WorkloadPatch {
  return { version: 1, service, target, patch: {}, envFrom: {}, variables: {}, detach: true };
}

/** The stored patch; undefined: the ConfigMap has none that can be read. */
export function patchIn(configMap: KubeObject | undefined): WorkloadPatch | undefined {
  const text = fieldAt(configMap, "data", WORKLOAD_PATCH_KEY);
  const parsed = typeof text === "string" ? parseWorkloadPatch(text) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

/** Identifies a patch in the annotation that requests it. */
export function patchDigest(patch: WorkloadPatch): string {
  return sha256Hex(formatWorkloadPatch(patch)).slice(0, 16);
}
