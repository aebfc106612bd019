/** Checks before a MachineSet creates machines: workers do not join a control plane that is being created or upgraded. */
import { keyText, keyOf } from "#kube";
import type { CapiWork } from "../capi-work.ts";
import { compareVersions, refAt, textAt, type CapiObject } from "../objects.ts";

export function failedPreflights(work: CapiWork, cluster: CapiObject): readonly string[] {
  const controlPlane = work.caches.resolve(cluster.metadata.namespace, refAt(cluster, "spec", "controlPlaneRef"));
  if (controlPlane === undefined) return [];
  const failed = (state: string) => [
    `${controlPlane.kind} ${keyText(keyOf(controlPlane))} is ${state} ("ControlPlaneIsStable" preflight check failed)`,
  ];
  const current = textAt(controlPlane, "status", "version");
  if (current === undefined) return failed("provisioning");
  const upgrading = compareVersions(textAt(controlPlane, "spec", "version") ?? "", current) !== 0;
  return upgrading ? failed("upgrading") : [];
}
