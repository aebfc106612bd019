/** Provider `gcp`: Cluster API Provider GCP, `infrastructure.cluster.x-k8s.io/v1beta1`. Its controllers read the Secret that the cluster names. */
import type { LatticeCluster, LatticeClusterSpec } from "#crds";
import { gcpClusters, gcpMachineTemplates, type JsonObject } from "#kube";
import type { ClusterContext } from "../input.ts";
import { clusterObject } from "../objects.ts";
import type { MachineRole, ProviderParts } from "./provider.ts";

export type GcpSettings = NonNullable<LatticeClusterSpec["provider"]["gcp"]>;

export const GCP_DEFAULT_NETWORK = "default";

export function gcpParts(cluster: LatticeCluster, context: ClusterContext, gcp: GcpSettings): ProviderParts {
  const credentials = cluster.spec.provider.credentialsRef;
  const spec = {
    project: gcp.project,
    region: gcp.region,
    network: { name: gcp.network ?? GCP_DEFAULT_NETWORK },
    ...(credentials === undefined ? {} : { credentialsRef: { name: credentials.name, namespace: credentials.namespace } }),
  };
  return {
    credentials: [],
    infrastructure: { resource: gcpClusters, object: clusterObject(gcpClusters, context, { name: context.name, spec }) },
    machines: gcpMachineTemplates,
    machineTemplate: (role) => ({ template: { spec: machineOf(gcp, role) } }),
    registration: {
      fields: { name: '{{ ds.meta_data.local_hostname.split(".")[0] }}' },
      kubeletArgs: { "cloud-provider": "external" },
    },
    externalCloudProvider: true,
  };
}

function machineOf(gcp: GcpSettings, machine: MachineRole): JsonObject {
  const [defaults, own] = machine.role === "worker" ? [gcp.workers, machine.pool.machine] : [gcp.controlPlane, {}];
  const { diskGiB = defaults.diskGiB, machineType = defaults.machineType } = own;
  return { instanceType: machineType, ...(diskGiB === undefined ? {} : { rootDeviceSize: diskGiB }) };
}
