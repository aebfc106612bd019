/**
 * Provider `azure`: Cluster API Provider Azure, `infrastructure.cluster.x-k8s.io/v1beta1`.
 *
 * `credentialsRef` names an AzureClusterIdentity and no Secret: an identity needs a tenant and a client, which are not in the spec.
 */
import type { LatticeCluster, LatticeClusterSpec } from "#crds";
import { apiVersionOf, azureClusters, azureMachineTemplates, type JsonObject } from "#kube";
import type { ClusterContext } from "../input.ts";
import { clusterObject } from "../objects.ts";
import type { MachineRole, ProviderParts } from "./provider.ts";

export type AzureSettings = NonNullable<LatticeClusterSpec["provider"]["azure"]>;

const DEFAULT_DISK_GIB = 128;

export function azureParts(cluster: LatticeCluster, context: ClusterContext, azure: AzureSettings): ProviderParts {
  const { name } = context;
  const identity = cluster.spec.provider.credentialsRef;
  const spec = {
    location: azure.location,
    subscriptionID: azure.subscriptionId,
    resourceGroup: azure.resourceGroup ?? name,
    networkSpec: {
      vnet: { name: `${name}-vnet` },
      subnets: [
        { name: "control-plane-subnet", role: "control-plane" },
        { name: "node-subnet", role: "node" },
      ],
    },
    ...(identity === undefined
      ? {}
      : {
          identityRef: {
            apiVersion: apiVersionOf(azureClusters),
            kind: "AzureClusterIdentity",
            name: identity.name,
            namespace: identity.namespace,
          },
        }),
  };
  return {
    credentials: [],
    infrastructure: { resource: azureClusters, object: clusterObject(azureClusters, context, { name, spec }) },
    machines: azureMachineTemplates,
    machineTemplate: (role) => ({ template: { spec: machineOf(azure, role) } }),
    registration: { fields: { name: '{{ ds.meta_data["local_hostname"] }}' }, kubeletArgs: { "cloud-provider": "external" } },
    externalCloudProvider: true,
  };
}

function machineOf(azure: AzureSettings, machine: MachineRole): JsonObject {
  const [defaults, own] = machine.role === "worker" ? [azure.workers, machine.pool.machine] : [azure.controlPlane, {}];
  const { diskGiB = defaults.diskGiB ?? DEFAULT_DISK_GIB, vmSize = defaults.vmSize } = own;
  return { vmSize, osDisk: { osType: "Linux", diskSizeGB: diskGiB } };
}
