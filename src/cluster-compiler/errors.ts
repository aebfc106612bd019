/** Why a LatticeCluster that passes its schema cannot work. Each error has the field, what is wrong, and what corrects it. */
export type ClusterSpecReason =
  | "BackendInvalid"
  | "CellRefInvalid"
  | "CertSanInvalid"
  | "ControlPlaneEven"
  | "CredentialsMisplaced"
  | "CredentialsMissing"
  | "EndpointInvalid"
  | "EndpointUnreachable"
  | "ImageVersionDiffers"
  | "LabelsInvalid"
  | "LoadBalancerWithoutPool"
  | "NameInvalid"
  | "NetworkReserved"
  | "NetworkTooLarge"
  | "NetworkTooSmall"
  | "NetworkFamiliesDiffer"
  | "NetworksOverlap"
  | "PoolBoundsInvalid"
  | "PoolNameTaken"
  | "ProviderSettingInvalid"
  | "ProviderSettingsMissing"
  | "SubnetsWithoutVpc"
  | "TaintInvalid"
  | "TooManyNodes"
  | "TrustBundleTooLarge"
  | "UpgradeInvalid"
  | "VersionDowngrade"
  | "VersionInvalid"
  | "VersionSkipped"
  | "VersionUnsupported";

/** `path`: the field, such as `spec.networking.pods.cidr`. `message`: one sentence without the path. */
export type ClusterSpecError = { readonly reason: ClusterSpecReason; readonly path: string; readonly message: string };

/** @example describeClusterError({ reason: "ControlPlaneEven", path: "spec.nodes.controlPlane", message: "must be odd" }) */
export function describeClusterError({ path, message }: ClusterSpecError): string {
  return `${path}: ${message}`;
}
