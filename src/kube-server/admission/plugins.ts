/** The admission plugins in the order in which kube-apiserver runs them. */
import {
  certificateRequester,
  terminatingDefinitions,
  protectedNamespaces,
  taintNewNodes,
  systemPriorityClasses,
} from "./built-in/cluster.ts";
import { defaultTolerations, podPriority } from "./built-in/pods.ts";
import { defaultIngressClass } from "./built-in/ingress-class.ts";
import { runtimeClass } from "./built-in/runtime-class.ts";
import { certificateApproval, certificateSigning } from "./built-in/signers.ts";
import { claimResize, defaultStorageClass, storageProtection } from "./built-in/storage.ts";
import { limitRanger } from "./limit-ranges/index.ts";
import { mutatingPolicies, validatingPolicies } from "./policies/index.ts";
import type { AdmissionContext, AdmissionPlugin } from "../protocol/admission-port.ts";
import { resourceQuota } from "./quota/index.ts";
import { mutatingWebhooks, validatingWebhooks } from "./webhooks/index.ts";

export function admissionPlugins(context: AdmissionContext): readonly AdmissionPlugin[] {
  return [
    terminatingDefinitions(context),
    protectedNamespaces,
    systemPriorityClasses,
    certificateRequester,
    limitRanger(context),
    taintNewNodes,
    podPriority(context),
    defaultTolerations,
    defaultStorageClass(context),
    storageProtection,
    claimResize(context),
    runtimeClass(context),
    certificateApproval(context),
    certificateSigning(context),
    defaultIngressClass(context),
    mutatingPolicies(context),
    mutatingWebhooks(context),
    validatingPolicies(context),
    validatingWebhooks(context),
    resourceQuota(context),
  ];
}
