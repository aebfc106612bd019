/** Parts of Deployments, and patches that can be applied. Only for tests. */
import { expectOk } from "#base";
import { fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { AT } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, type AppliedPatch, type WorkloadPatch } from "./index.ts";

export function applyAt(deployment: KubeObject, patch: WorkloadPatch, at = AT): AppliedPatch {
  return expectOk(applyWorkloadPatch(deployment, patch, { at }));
}

export const specOf = (deployment: KubeObject): Json | undefined => fieldAt(deployment, "spec");
export const podOf = (deployment: KubeObject): JsonObject => {
  const pod = fieldAt(deployment, "spec", "template", "spec");
  return isJsonObject(pod) ? pod : {};
};
export const containersOf = (deployment: KubeObject, list = "containers"): readonly JsonObject[] => {
  const containers = podOf(deployment)[list];
  return Array.isArray(containers) ? (containers as readonly Json[]).filter(isJsonObject) : [];
};
/** The first container. */
export const mainOf = (deployment: KubeObject): JsonObject | undefined => containersOf(deployment)[0];
