export { ACCEPTANCE_REASONS } from "./acceptance/conditions.ts";
export { acceptanceController, type AcceptanceOptions, type AcceptanceFindings } from "./acceptance/controller.ts";
export { detachController } from "./detach/controller.ts";
export { detachedPatchController } from "./detach/detached-patches.ts";
export { DETACH_REASONS } from "./detach/reverted-text.ts";
export { ENVIRONMENT_REASONS, environmentController } from "./environment/controller.ts";
export { EXTERNAL_SERVICE_REASONS, externalServiceController } from "./external-service/controller.ts";
export { namespaceController, namespaceLabels } from "./namespace/controller.ts";
export type { OperatorReach } from "./reach.ts";
export { reducedMeshCrds } from "./reduced-mesh-crds.ts";
export { SERVICE_REASONS } from "./service/conditions.ts";
export { serviceController } from "./service/controller.ts";
export type { ServiceShared } from "./service/commands.ts";
export { CompileRecords } from "./service/compile-records.ts";
export { HASH_KEY_SECRET } from "./world/config-hash-key.ts";
export { FollowedWorld, type AffectedKeys, type FollowedWorldOptions } from "./world/followed-world.ts";
export {
  ADOPTED_ANNOTATION,
  adoptedCluster,
  adoptionSecretOf,
  adoptionStep,
  certificateToReplace,
  newCertificateHelp,
  NEW_CERTIFICATE_ANNOTATION,
  OFFER_EXPIRES_ANNOTATION,
  type AdoptionState,
} from "./cluster/adoption.ts";
export type { CapiView } from "./cluster/capi-view.ts";
export { KUBECONFIG_ANNOTATION } from "./cluster/child-secrets.ts";
export { createChildNamespace } from "./cluster/commands.ts";
export { clusterController } from "./cluster/controller.ts";
export { identityOf, type OwnIdentity } from "./cluster/identity.ts";
export { cellClosing } from "./cluster/refusals.ts";
export { addressesOf, type EndpointsSpec, type ServedEndpoints } from "./cluster/served-endpoints.ts";
export {
  accessSecretOf,
  CELL_ENDPOINTS_CONFIG_MAP,
  CLUSTER_API_ACCOUNT,
  IDENTITY_CONFIG_MAP,
  kubeconfigSecretOf,
  PARENT_CONFIG_SECRET,
} from "./cluster/names.ts";
export type { ClusterShared } from "./cluster/observe.ts";
export type { CellView, ObservedChild, ObservedOwn } from "./cluster/observed.ts";
export {
  CellSlot,
  type ChildAccess,
  type ChildAccessRecords,
  type ChildAgent,
  type ChildLink,
  type ChildPivots,
  type ChildTokens,
  type PivotProblem,
  type PivotView,
  type RunningCell,
} from "./cluster/ports.ts";
export { PIVOT_ANNOTATION, PIVOT_REQUEST_ANNOTATION, pivotRequestId } from "./cluster/pivot-request.ts";
export { isKubeconfigDue, writeOwnKubeconfig, type OwnApiServer } from "./cluster/own-kubeconfig.ts";
export { tracesIn } from "./cluster/move-traces.ts";
export { CLUSTER_REASONS } from "./cluster/reasons.ts";
export { mirrorAnnotation, MIRROR_ANNOTATION, specDigest, specMirrorOf } from "./cluster/spec-mirror.ts";
export { selfManagerController } from "./cluster/self-manager.ts";
export { UplinkSlot, type ParentUplink } from "./cluster/uplink.ts";
