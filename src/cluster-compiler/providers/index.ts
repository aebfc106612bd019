/** The parts of a cluster that depend on its provider. Undefined: the block of the provider is missing, which a check reports. */
import type { LatticeCluster } from "#crds";
import type { ClusterContext, ClusterSettingsInput } from "../input.ts";
import { awsParts } from "./aws.ts";
import { azureParts } from "./azure.ts";
import { dockerParts } from "./docker.ts";
import { gcpParts } from "./gcp.ts";
import { localParts } from "./local.ts";
import type { ProviderParts } from "./provider.ts";

export function providerParts(cluster: LatticeCluster, context: ClusterContext, settings: ClusterSettingsInput): ProviderParts | undefined {
  const { type, aws, gcp, azure } = cluster.spec.provider;
  switch (type) {
    case "docker":
      return dockerParts(cluster, context, settings);
    case "local":
      return localParts(context, settings);
    case "aws":
      return aws === undefined ? undefined : awsParts(cluster, context, aws);
    case "gcp":
      return gcp === undefined ? undefined : gcpParts(cluster, context, gcp);
    case "azure":
      return azure === undefined ? undefined : azureParts(cluster, context, azure);
  }
}
