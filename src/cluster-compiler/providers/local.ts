/** Provider `local`: machines are folders of the laptop fleet. Its kinds are Lattice's own. */
import { localClusters, localMachineTemplates } from "#kube";
import type { ClusterContext, ClusterSettingsInput } from "../input.ts";
import { clusterObject } from "../objects.ts";
import { UNREACHABLE_ENDPOINT, type ProviderParts } from "./provider.ts";

export function localParts(context: ClusterContext, settings: ClusterSettingsInput): ProviderParts {
  const { host, port } = settings.controlPlaneEndpoint ?? UNREACHABLE_ENDPOINT;
  const spec = { controlPlaneEndpoint: { host, port } };
  return {
    credentials: [],
    infrastructure: { resource: localClusters, object: clusterObject(localClusters, context, { name: context.name, spec }) },
    machines: localMachineTemplates,
    machineTemplate: () => ({ template: { spec: {} } }),
    registration: { fields: {}, kubeletArgs: {} },
    externalCloudProvider: false,
  };
}
