/** Values of cloud settings: the clouds limit names and sizes that the schema leaves open. */
import type { LatticeCluster } from "#crds";
import type { ClusterSpecError, ClusterSpecReason } from "../errors.ts";

type Setting = {
  readonly path: string;
  readonly value: string | undefined;
  readonly pattern: RegExp;
  readonly message: string;
  readonly reason?: ClusterSpecReason;
};

const INSTANCE_TYPE = /^[a-z][a-z0-9-]*\.[a-z0-9-]+$/;
const MACHINE_TYPE = /^[a-z][a-z0-9-]*[a-z0-9]$/;
const VM_SIZE = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** The largest system disk of Azure. */
const MOST_AZURE_DISK = 4_095;

export function checkCloudSettings(cluster: LatticeCluster): readonly ClusterSpecError[] {
  const errors = settingsOf(cluster).flatMap(
    ({ path, value, pattern, message, reason = "ProviderSettingInvalid" }): readonly ClusterSpecError[] =>
      value === undefined || pattern.test(value) ? [] : [{ reason, path, message: `${JSON.stringify(value)} ${message}` }],
  );
  return [...errors, ...subnetsWithoutVpc(cluster), ...azureDisks(cluster)];
}

function settingsOf(cluster: LatticeCluster): readonly Setting[] {
  const { provider, nodes } = cluster.spec;
  const pools = Object.entries(nodes.workerPools ?? {});
  const machines = (
    block: string,
    field: "instanceType" | "machineType" | "vmSize",
    pattern: RegExp,
    such: string,
    given: readonly (string | undefined)[],
  ) => {
    const message = `is not a machine type of ${block}; use one such as ${such}`;
    const [controlPlane, workers] = given;
    return [
      { path: `spec.provider.${block}.controlPlane.${field}`, value: controlPlane, pattern, message },
      { path: `spec.provider.${block}.workers.${field}`, value: workers, pattern, message },
      ...pools.map(([pool, fields]) => ({ path: `spec.nodes.workerPools.${pool}.${field}`, value: fields[field], pattern, message })),
    ];
  };
  const { aws, gcp, azure } = provider;
  return [
    ...(aws === undefined
      ? []
      : machines("aws", "instanceType", INSTANCE_TYPE, "m6i.large", [aws.controlPlane.instanceType, aws.workers.instanceType])),
    ...(gcp === undefined
      ? []
      : [
          ...machines("gcp", "machineType", MACHINE_TYPE, "n2-standard-4", [gcp.controlPlane.machineType, gcp.workers.machineType]),
          gcpName(cluster),
          gcpNetwork(gcp.network),
        ]),
    ...(azure === undefined
      ? []
      : [
          ...machines("azure", "vmSize", VM_SIZE, "Standard_D4s_v5", [azure.controlPlane.vmSize, azure.workers.vmSize]),
          azureName(cluster),
          resourceGroup(azure.resourceGroup),
        ]),
  ];
}

/** The provider makes resources such as `allow-<name>-healthchecks`, whose names have at most 63 characters. */
const gcpName = ({ metadata: { name } }: LatticeCluster): Setting => ({
  reason: "NameInvalid",
  path: "metadata.name",
  value: name,
  pattern: /^[a-z][-a-z0-9]{0,43}$/,
  message: "cannot be a part of names in Google Cloud: begin with a letter, and use at most 44 characters",
});

const gcpNetwork = (value: string | undefined): Setting => ({
  path: "spec.provider.gcp.network",
  value,
  pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  message: "is not the name of a network: use lower case letters, digits and '-', beginning with a letter",
});

const azureName = ({ metadata: { name } }: LatticeCluster): Setting => ({
  reason: "NameInvalid",
  path: "metadata.name",
  value: name,
  pattern: /^[a-z0-9][a-z0-9-]{0,42}[a-z0-9]$/,
  message: "is refused by the Azure provider: use 2 to 44 characters",
});

const resourceGroup = (value: string | undefined): Setting => ({
  path: "spec.provider.azure.resourceGroup",
  value,
  pattern: /^[-\w.()]*[-\w()]$/,
  message: "is not the name of a resource group: use letters, digits, '-', '_', '.', '(' and ')', and no '.' at the end",
});

function subnetsWithoutVpc({ spec: { provider } }: LatticeCluster): readonly ClusterSpecError[] {
  const { subnets = [], vpcId } = provider.aws ?? {};
  if (subnets.length === 0 || vpcId !== undefined) return [];
  const message = "are subnets of an existing VPC, and vpcId is absent, so a new VPC would be made; add vpcId, or remove the subnets";
  return [{ reason: "SubnetsWithoutVpc", path: "spec.provider.aws.subnets", message }];
}

function azureDisks({ spec: { provider, nodes } }: LatticeCluster): readonly ClusterSpecError[] {
  const { azure } = provider;
  if (azure === undefined) return [];
  const disks: readonly (readonly [string, number | undefined])[] = [
    ["spec.provider.azure.controlPlane.diskGiB", azure.controlPlane.diskGiB],
    ["spec.provider.azure.workers.diskGiB", azure.workers.diskGiB],
    ...Object.entries(nodes.workerPools ?? {}).map(([pool, { diskGiB }]) => [`spec.nodes.workerPools.${pool}.diskGiB`, diskGiB] as const),
  ];
  return disks.flatMap(([path, size]): readonly ClusterSpecError[] =>
    size === undefined || size <= MOST_AZURE_DISK
      ? []
      : [
          {
            reason: "ProviderSettingInvalid",
            path,
            message: `is ${size}, and a system disk of Azure has at most ${MOST_AZURE_DISK} GiB; lower it`,
          },
        ],
  );
}
