export { bootstrapManifests, type BootstrapManifestsInput, type ParentSettings } from "./bootstrap-manifests.ts";
export { bootstrapClusterObjects, withoutProviders, type BootstrapClusterInput } from "./bootstrap-cluster-objects.ts";
export type { BundleEntry } from "./bundle-manifest.ts";
export type { Bundle, BundleComponent, BundleError } from "./bundle.ts";
export { clusterBundle, localClusterBundle, type ClusterBundle, type ReducedClusterApi } from "./cluster-bundle.ts";
export { DEFERRED_OBJECTS, parseDeferredObjects } from "./deferred-objects.ts";
export { parseMirror, type ImageMirror } from "./images.ts";
export { loadBundle } from "./load-bundle.ts";
export { makeBundle, type BundleSettings, type ComponentSource, type MadeBundle } from "./make-bundle.ts";
export { providerInventory, reducedCapiCrds, type ReducedProvider } from "./reduced-capi/index.ts";
export { webhookCertificateNeeds, type WebhookCertificate, type WebhookCertificateNeed } from "./webhook-certificates.ts";
export {
  parseWebhookInventory,
  WEBHOOK_INVENTORY,
  webhookInventoryObjects,
  type WebhookClient,
  type WebhookInventoryEntry,
} from "./webhook-inventory.ts";
