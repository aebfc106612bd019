export { isIpv4, isIpv6 } from "./addresses.ts";
export { formatFieldError, type FieldError, type FieldErrorKind } from "./field-error.ts";
export type { FieldRow } from "./field-table.ts";
export { isSystemNamespace } from "./fields.ts";
export { LATTICE_API_VERSION, LATTICE_GROUP, LATTICE_VERSION, type LatticeKind } from "./kind.ts";
export { latticeKinds, parseLatticeObject, type AnyLatticeKind, type LatticeObject } from "./kinds.ts";
export {
  latticeClusterKind,
  latticeClusters,
  parseLatticeCluster,
  type LatticeCluster,
  type LatticeClusterSpec,
  type LatticeClusterStatus,
} from "./lattice-cluster.ts";
export {
  latticeEnvironmentKind,
  latticeEnvironments,
  parseLatticeEnvironment,
  POD_SECURITY_LEVELS,
  type LatticeEnvironment,
  type PodSecurityLevel,
} from "./lattice-environment.ts";
export {
  latticeExternalServiceKind,
  latticeExternalServices,
  parseLatticeExternalService,
  type LatticeExternalService,
} from "./lattice-external-service.ts";
export {
  latticeImageRegistries,
  latticeImageRegistryKind,
  parseLatticeImageRegistry,
  type LatticeImageRegistry,
} from "./lattice-image-registry.ts";
export {
  latticeSecretBindings,
  latticeSecretBindingsKind,
  parseLatticeSecretBindings,
  type LatticeSecretBindings,
} from "./lattice-secret-bindings.ts";
export {
  latticeServiceConfigKind,
  latticeServiceConfigs,
  parseLatticeServiceConfig,
  type LatticeServiceConfig,
} from "./lattice-service-config.ts";
export {
  latticeServiceRegistrationKind,
  latticeServiceRegistrations,
  parseLatticeServiceRegistration,
  type LatticeServiceRegistration,
} from "./lattice-service-registration.ts";
export {
  latticeServiceKind,
  latticeServices,
  parseLatticeService,
  type LatticeService,
  type LatticeServiceSpec,
  type LatticeServiceStatus,
} from "./lattice-service.ts";
export type { CustomResourceDefinition } from "./manifest.ts";
export { didYouMean, nearestName } from "./nearest.ts";
export { defaultCanary, type CanarySettings } from "./service/deploy.ts";
