/** `spec.provider`: settings that the provider's own controllers or webhooks would refuse later. */
import type { LatticeCluster } from "#crds";
import type { ClusterSpecError } from "../errors.ts";
import { AWS_PROVIDER_NAMESPACE } from "../providers/aws.ts";
import { BACKEND_ANNOTATION } from "../providers/docker.ts";
import { checkCloudSettings } from "./cloud-settings.ts";

const CLOUDS = ["aws", "gcp", "azure"] as const;
type Cloud = (typeof CLOUDS)[number];

export function checkProvider(cluster: LatticeCluster): readonly ClusterSpecError[] {
  const { provider } = cluster.spec;
  const cloud = CLOUDS.find((type) => type === provider.type);
  return [...checkBackend(cluster), ...(cloud === undefined ? [] : [...checkCloud(cluster, cloud), ...checkCloudSettings(cluster)])];
}

function checkBackend({ metadata, spec: { provider } }: LatticeCluster): readonly ClusterSpecError[] {
  const backend = metadata.annotations?.[BACKEND_ANNOTATION];
  if (backend === undefined) return [];
  const path = `metadata.annotations["${BACKEND_ANNOTATION}"]`;
  if (provider.type !== "docker") {
    return [{ reason: "BackendInvalid", path, message: `is only for provider type docker, and this is ${provider.type}; remove it` }];
  }
  if (backend === "docker" || backend === "inMemory") return [];
  return [{ reason: "BackendInvalid", path, message: `must be docker or inMemory, and is ${JSON.stringify(backend.slice(0, 64))}` }];
}

const CREDENTIALS: Readonly<Record<Cloud, string>> = {
  aws: `a Secret in namespace ${AWS_PROVIDER_NAMESPACE} with AccessKeyID and SecretAccessKey`,
  gcp: "a Secret whose key credentials has the service account's JSON",
  azure: "an AzureClusterIdentity",
};

/** The controllers of the child have no default credentials of their own: a cluster without credentials could not manage itself. */
function checkCloud({ spec: { provider } }: LatticeCluster, cloud: Cloud): readonly ClusterSpecError[] {
  const errors: ClusterSpecError[] = [];
  const { credentialsRef } = provider;
  if (provider[cloud] === undefined) {
    const message = `is required for provider type ${cloud}: it has the location and the machines of the cluster; add it`;
    errors.push({ reason: "ProviderSettingsMissing", path: `spec.provider.${cloud}`, message });
  }
  if (credentialsRef === undefined) {
    const message = `is required for provider type ${cloud}, since the cluster manages its own machines; name ${CREDENTIALS[cloud]}`;
    errors.push({ reason: "CredentialsMissing", path: "spec.provider.credentialsRef", message });
  }
  if (cloud === "aws" && credentialsRef !== undefined && credentialsRef.namespace !== AWS_PROVIDER_NAMESPACE) {
    const message = `is ${credentialsRef.namespace}, and the AWS provider reads Secrets only in its own namespace; create the Secret in ${AWS_PROVIDER_NAMESPACE}`;
    errors.push({ reason: "CredentialsMisplaced", path: "spec.provider.credentialsRef.namespace", message });
  }
  return errors;
}
