export { ignoredFields, type DeploymentPatch } from "./compile-patch.ts";
export { compileService, type CompiledService } from "./compile-service.ts";
export { describeCompileError, describeWarning, fieldOf, placeOf, type CompileError, type Warning } from "./errors.ts";
export {
  comparablePath,
  grantsOf,
  hostsOverlap,
  isShareable,
  isWildcard,
  pathsOverlap,
  podSecurityLabels,
  secretNotShared,
  SHAREABLE_LABEL,
  shareableValues,
  sourceOf,
  widerLevel,
  type Grants,
} from "./grants/index.ts";
export type { MountedKind, SecretStore, ServiceInput, Settings } from "./input.ts";
export {
  declaredProvisioner,
  PROVISIONER_LABEL,
  canHaveRoute,
  registryWith,
  UNREAD_TYPE,
  type AgreementParams,
  type PeerAddress,
  type Provisioned,
  type Provisioner,
  type Registry,
  type ResourceResolution,
  type ResourceEntry,
  type ResourceProblem,
  type ProvisionRequest,
  type RouteTarget,
  type ServiceAddress,
  type ProvisionerContext,
} from "./provisioners/index.ts";
export { entriesOf, resolveDeclarations } from "./rendering/render-service.ts";
export { secretOfPath, secretText, secretTexts, type SecretTexts } from "./secret-values.ts";
export { plain, secret, type Origin, type Rendered, type TemplateProblem, type Value } from "./templates/index.ts";
export { CONFIG_HASH_ANNOTATION, SERVICE_LABEL } from "./workload/names.ts";
export { atFirst, type CompiledObject } from "./workload/once.ts";
export { rootImage } from "./workload/root-images.ts";
export { portOfRoute } from "./workload/network.ts";
export { compileRoutes } from "./workload/routes.ts";
