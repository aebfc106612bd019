/**
 * Provider `aws`: Cluster API Provider AWS, `infrastructure.cluster.x-k8s.io/v1beta2`.
 *
 * Its controllers read credentials through a cluster-scoped identity, which names a Secret in their own namespace, and which allows the
 * namespace of this cluster only.
 */
import type { LatticeCluster, LatticeClusterSpec } from "#crds";
import { awsClusters, awsClusterStaticIdentities, awsMachineTemplates, type JsonObject } from "#kube";
import type { ClusterContext } from "../input.ts";
import { boundedName } from "../names.ts";
import { clusterObject } from "../objects.ts";
import type { MachineRole, ProviderParts } from "./provider.ts";

export type AwsSettings = NonNullable<LatticeClusterSpec["provider"]["aws"]>;

/** Where the provider runs and reads Secrets. */
export const AWS_PROVIDER_NAMESPACE = "capa-system";

export function awsParts(cluster: LatticeCluster, context: ClusterContext, aws: AwsSettings): ProviderParts {
  const secret = cluster.spec.provider.credentialsRef?.name;
  const identity = boundedName(`lattice-${context.name}`);
  const spec = {
    region: aws.region,
    ...(aws.sshKeyName === undefined ? {} : { sshKeyName: aws.sshKeyName }),
    ...(secret === undefined ? {} : { identityRef: { kind: awsClusterStaticIdentities.kind, name: identity } }),
    ...networkOf(aws),
    controlPlaneLoadBalancer: { loadBalancerType: "nlb", healthCheckProtocol: "HTTPS" },
  };
  return {
    credentials:
      secret === undefined
        ? []
        : [
            clusterObject(awsClusterStaticIdentities, context, {
              name: identity,
              spec: { secretRef: secret, allowedNamespaces: { list: [context.namespace] } },
            }),
          ],
    infrastructure: { resource: awsClusters, object: clusterObject(awsClusters, context, { name: context.name, spec }) },
    machines: awsMachineTemplates,
    machineTemplate: (role) => ({ template: { spec: machineOf(aws, role) } }),
    registration: { fields: { name: "{{ ds.meta_data.local_hostname }}" }, kubeletArgs: { "cloud-provider": "external" } },
    externalCloudProvider: true,
  };
}

function networkOf({ vpcId, subnets = [] }: AwsSettings): JsonObject {
  if (vpcId === undefined) return {};
  return { network: { vpc: { id: vpcId }, ...(subnets.length === 0 ? {} : { subnets: subnets.map((id) => ({ id })) }) } };
}

function machineOf(aws: AwsSettings, machine: MachineRole): JsonObject {
  const [defaults, own] = machine.role === "worker" ? [aws.workers, machine.pool.machine] : [aws.controlPlane, {}];
  const { diskGiB = defaults.diskGiB, instanceType = defaults.instanceType } = own;
  return {
    instanceType,
    // made once per account by `clusterawsadm bootstrap iam`
    iamInstanceProfile: `${machine.role === "worker" ? "nodes" : "control-plane"}.cluster-api-provider-aws.sigs.k8s.io`,
    ...(aws.sshKeyName === undefined ? {} : { sshKeyName: aws.sshKeyName }),
    ...(aws.ami === undefined ? {} : { ami: { id: aws.ami } }),
    ...(diskGiB === undefined ? {} : { rootVolume: { size: diskGiB } }),
  };
}
