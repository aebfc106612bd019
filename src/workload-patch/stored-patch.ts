/**
 * How the patch of a Deployment is stored: one ConfigMap in the operator's own namespace, where only administrators write. The leader writes it, and
 * every replica reads it (ADR 0029).
 */
import { sha256Hex } from "#base";
import type { WorkloadPatch } from "./workload-patch.ts";

/** Of the ConfigMap, with the value "true". */
export const WORKLOAD_PATCH_LABEL = "lattice.dev/workload-patch";
/** Where the patch is in the data of the ConfigMap. */
export const WORKLOAD_PATCH_KEY = "patch.json";

/** A Deployment. */
export type WorkloadTarget = WorkloadPatch["target"];

/** The name of the ConfigMap with the patch of a Deployment. */
export function workloadPatchName({ namespace, name }: WorkloadTarget): string {
  return `workload-patch-${sha256Hex(`${namespace}/${name}`).slice(0, 16)}`;
}
