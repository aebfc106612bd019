/** The parts of admission in the order in which kube-apiserver asks them. */
import { certificateRequesters, immortalNamespaces, newNodesAreNotReady } from "./built-in/cluster.ts";
import { defaultTolerations, podPriority } from "./built-in/pods.ts";
import { claimResize, defaultStorageClass, storageProtection } from "./built-in/storage.ts";
import { limitRanger } from "./limit-ranges/index.ts";
import { mutatingPolicies, validatingPolicies } from "./policies/index.ts";
import type { AdmissionContext, AdmissionPlugin } from "./port.ts";
import { resourceQuota } from "./quota/index.ts";
import { mutatingWebhooks, validatingWebhooks } from "./webhooks/index.ts";

export function admissionPlugins(context: AdmissionContext): readonly AdmissionPlugin[] {
  return [
    immortalNamespaces,
    certificateRequesters,
    limitRanger(context),
    newNodesAreNotReady,
    podPriority(context),
    defaultTolerations,
    defaultStorageClass(context),
    storageProtection,
    claimResize(context),
    mutatingPolicies(context),
    mutatingWebhooks(context),
    validatingPolicies(context),
    validatingWebhooks(context),
    resourceQuota(context),
  ];
}
