/** The parts of admission in the order in which kube-apiserver asks them. */
import { defaultTolerations, podPriority } from "./built-in/pods.ts";
import { defaultStorageClass, storageProtection } from "./built-in/storage.ts";
import type { AdmissionContext, AdmissionPlugin } from "./port.ts";

export function admissionPlugins(context: AdmissionContext): readonly AdmissionPlugin[] {
  return [podPriority(context), defaultTolerations, defaultStorageClass(context), storageProtection];
}
