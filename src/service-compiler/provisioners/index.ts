export { type AgreementParams } from "./agreement.ts";
export { declaredProvisioner, PROVISIONER_LABEL } from "./declared.ts";
export { type Param, type Params } from "./params.ts";
export type {
  Claim,
  ResourceOutput,
  PeerAddress,
  Provisioned,
  Provisioner,
  ResourceProblem,
  ProvisionRequest,
  RouteTarget,
  ServiceAddress,
  ProvisionerContext,
} from "./provisioner.ts";
export { canHaveRoute, registryWith, type Registry } from "./registry.ts";
export {
  resolveResources,
  UNREAD_TYPE,
  type ResourceResolution,
  type ResolvedResources,
  type ResourceEntry,
  type ResourceError,
  type Resolving,
} from "./resolve.ts";
