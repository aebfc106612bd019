/** LatticeClusters that pass the schema, or come from a server that does not check its rules, and cannot work. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { rawAws, rawAzure, rawCluster, rawClusterOn, rawGcp } from "../../test/builders/valid-resources.ts";
import { compileCluster, describeClusterError, type ClusterSpecReason, type ClusterSettingsInput } from "./index.ts";

type Fields = Readonly<Record<string, unknown>>;
type Row = {
  readonly name: string;
  readonly given: LatticeCluster;
  readonly settings?: ClusterSettingsInput;
  readonly want: { readonly reason: ClusterSpecReason; readonly message: string };
};

const parsed = (raw: unknown): LatticeCluster => expectOk(parseLatticeCluster(raw));
const cluster = (spec: Fields) => parsed(rawCluster(spec));
const named = (name: string, raw: object) => parsed({ ...raw, metadata: { name } });
const networks = (pods: string | undefined, services?: string, pool?: string) =>
  cluster({
    networking: {
      ...(pods === undefined ? {} : { pods: { cidr: pods } }),
      ...(services === undefined ? {} : { services: { cidr: services } }),
      ...(pool === undefined ? {} : { default: { cidr: pool } }),
    },
  });
const pools = (workerPools: Fields) => cluster({ nodes: { controlPlane: 1, workers: 1, workerPools } });
const credentialsRef = { name: "credentials", namespace: "capa-system" };
const aws = (fields: Fields = {}, provider: Fields = {}) => ({ type: "aws", aws: { ...rawAws, ...fields }, credentialsRef, ...provider });
const gcp = (fields: Fields = {}) => ({ type: "gcp", gcp: { ...rawGcp, ...fields }, credentialsRef });
const azure = (fields: Fields = {}) => ({ type: "azure", azure: { ...rawAzure, ...fields }, credentialsRef });
const onProvider = (provider: Fields, spec: Fields = {}) => {
  const raw = rawClusterOn(provider);
  return parsed({ ...raw, spec: { ...raw["spec"], ...spec } });
};
const onAws = (spec: Fields) => onProvider(aws(), spec);
const annotated = (given: LatticeCluster, backend: string): LatticeCluster => ({
  ...given,
  metadata: { ...given.metadata, annotations: { "lattice.dev/backend": backend } },
});
/** As a server without the rules of the CRD would store it. */
const unchecked = (given: LatticeCluster, change: (spec: LatticeCluster["spec"]) => unknown): LatticeCluster =>
  ({ ...given, spec: change(given.spec) }) as LatticeCluster;
const cell = { name: "mgmt", host: "mgmt.example.com", bootstrapPort: 8_443, proxyPort: 8_444, caBundle: "PEM" };

const rows: readonly Row[] = [
  {
    name: "pods and services overlap",
    given: networks("10.0.0.0/16", "10.0.128.0/20"),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 10.0.0.0/16 and the service network 10.0.128.0/20 share addresses; give one of them another network",
    },
  },
  {
    name: "pods overlap the default of services",
    given: networks("10.100.0.0/16"),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 10.100.0.0/16 and the service network 10.96.0.0/12 (the default) share addresses; give one of them another network",
    },
  },
  {
    name: "services overlap the default of pods",
    given: networks(undefined, "192.168.10.0/24"),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.services.cidr: overlaps: the pod network 192.168.0.0/16 (the default) and the service network 192.168.10.0/24 share addresses; give one of them another network",
    },
  },
  {
    name: "the load balancer pool overlaps pods",
    given: networks("172.16.0.0/12", undefined, "172.18.255.0/28"),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 172.16.0.0/12 and the load balancer pool 172.18.255.0/28 share addresses; give one of them another network",
    },
  },
  {
    name: "the load balancer pool overlaps services",
    given: networks(undefined, "172.18.0.0/16", "172.18.255.0/28"),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.services.cidr: overlaps: the service network 172.18.0.0/16 and the load balancer pool 172.18.255.0/28 share addresses; give one of them another network",
    },
  },
  {
    name: "pods overlap the VPC that is made",
    given: onAws({ networking: { pods: { cidr: "10.0.0.0/14" } } }),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 10.0.0.0/14 and the network 10.0.0.0/16 of the machines share addresses; give one of them another network",
    },
  },
  {
    name: "pods overlap the subnets of Azure",
    given: onProvider(azure(), { networking: { pods: { cidr: "10.1.0.0/16" } } }),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 10.1.0.0/16 and the network 10.1.0.0/16 of the machines share addresses; give one of them another network",
    },
  },
  {
    name: "pods overlap the default network of Google Cloud",
    given: onProvider(gcp(), { networking: { pods: { cidr: "10.200.0.0/16" } } }),
    want: {
      reason: "NetworksOverlap",
      message:
        "spec.networking.pods.cidr: overlaps: the pod network 10.200.0.0/16 and the network 10.128.0.0/9 of the machines share addresses; give one of them another network",
    },
  },
  {
    name: "pods for fewer nodes than there are",
    given: networks("10.0.0.0/23"),
    want: {
      reason: "NetworkTooSmall",
      message:
        "spec.networking.pods.cidr: 10.0.0.0/23 has room for 2 nodes (/24 each), and a rollout of this cluster needs 5; use a network of at least /21",
    },
  },
  {
    name: "pods for less than one node",
    given: networks("10.0.0.0/26"),
    want: {
      reason: "NetworkTooSmall",
      message:
        "spec.networking.pods.cidr: 10.0.0.0/26 has room for 0 nodes (/24 each), and a rollout of this cluster needs 5; use a network of at least /21",
    },
  },
  {
    name: "pods for fewer nodes than the autoscaler may make",
    given: cluster({ nodes: { controlPlane: 3, workers: 0, workerPools: { a: { max: 300 } } } }),
    want: {
      reason: "NetworkTooSmall",
      message:
        "spec.networking.pods.cidr: 192.168.0.0/16 has room for 256 nodes (/24 each), and a rollout of this cluster needs 305; use a network of at least /15",
    },
  },
  {
    name: "an IPv6 pod network that is too large",
    given: networks("fd00::/40", "fd01::/108"),
    want: {
      reason: "NetworkTooLarge",
      message: "spec.networking.pods.cidr: fd00::/40 is too large: with /64 per node, Kubernetes allows at most /48",
    },
  },
  {
    name: "a service network that is too large",
    given: networks(undefined, "10.0.0.0/8"),
    want: {
      reason: "NetworkTooLarge",
      message: "spec.networking.services.cidr: 10.0.0.0/8 is too large: the API server allows at most /12",
    },
  },
  {
    name: "an IPv6 service network that is too large",
    given: networks("fd00::/48", "fd01::/64"),
    want: {
      reason: "NetworkTooLarge",
      message: "spec.networking.services.cidr: fd01::/64 is too large: the API server allows at most /108",
    },
  },
  {
    name: "a service network that is too small",
    given: networks(undefined, "10.96.0.0/30"),
    want: {
      reason: "NetworkTooSmall",
      message: "spec.networking.services.cidr: 10.96.0.0/30 is too small: the API server needs at least 8 addresses; use /29 or larger",
    },
  },
  {
    name: "pods and services of different families",
    given: networks("fd00::/48", "10.96.0.0/16"),
    want: {
      reason: "NetworkFamiliesDiffer",
      message: "spec.networking.services.cidr: is IPv4, and the pod network is IPv6; give both networks addresses of one family",
    },
  },
  {
    name: "a loopback network for pods",
    given: networks("127.0.0.0/16"),
    want: {
      reason: "NetworkReserved",
      message:
        "spec.networking.pods.cidr: 127.0.0.0/16 contains addresses that are reserved (loopback); use a private network, such as 192.168.0.0/16",
    },
  },
  {
    name: "a multicast network for services",
    given: networks(undefined, "224.0.0.0/16"),
    want: {
      reason: "NetworkReserved",
      message:
        "spec.networking.services.cidr: 224.0.0.0/16 contains addresses that are reserved (multicast and reserved addresses); use a private network, such as 10.96.0.0/12",
    },
  },
  {
    name: "a cell inside the pod network",
    given: onAws({ endpoints: { host: "192.168.3.4" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: is inside the pod network 192.168.0.0/16, which only this cluster can reach; give an address outside of it",
    },
  },
  {
    name: "a cell inside the service network",
    given: onAws({ endpoints: { host: "10.96.0.10" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: is inside the service network 10.96.0.0/12, which only this cluster can reach; give an address outside of it",
    },
  },
  {
    name: "a cell on loopback in a cloud",
    given: onAws({ endpoints: { host: "127.0.0.1" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: 127.0.0.1 is the machine itself on every machine, so children cannot reach the cell there; give an address that they can route to",
    },
  },
  {
    name: "a cell called localhost in a cloud",
    given: onAws({ endpoints: { host: "localhost" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: localhost is the machine itself on every machine, so children cannot reach the cell there; give an address that they can route to",
    },
  },
  {
    name: "a cell on loopback in containers",
    given: cluster({ endpoints: { host: "::1" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: ::1 is the machine itself on every machine, so children cannot reach the cell there; give an address that they can route to",
    },
  },
  {
    name: "a cell on a link-local address",
    given: onAws({ endpoints: { host: "169.254.1.1" } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: is a link-local address, which other networks cannot route to; give an address that children can route to",
    },
  },
  {
    name: "a cell on the unspecified address",
    given: onProvider({ type: "local" }, { endpoints: { host: "0.0.0.0" } }),
    want: {
      reason: "EndpointUnreachable",
      message: "spec.endpoints.host: 0.0.0.0 is no address of a host; give the address that children connect to",
    },
  },
  {
    name: "a cell whose address has a mistake",
    given: onAws({ endpoints: { host: "10.0.0.256" } }),
    want: { reason: "EndpointInvalid", message: 'spec.endpoints.host: "10.0.0.256" is neither a DNS name nor an IP address; correct it' },
  },
  {
    name: "a cell whose name has an empty label",
    given: onAws({ endpoints: { host: "cell..example.com" } }),
    want: {
      reason: "EndpointInvalid",
      message: 'spec.endpoints.host: "cell..example.com" is neither a DNS name nor an IP address; correct it',
    },
  },
  {
    name: "a load balancer on docker without a pool",
    given: cluster({ endpoints: { host: "172.18.255.1" } }),
    want: {
      reason: "LoadBalancerWithoutPool",
      message:
        "spec.endpoints.service.type: is LoadBalancer, and docker assigns no addresses: the Service would wait for ever; add networking.default.cidr, or use NodePort",
    },
  },
  {
    name: "a cell on docker outside of its pool",
    given: cluster({ endpoints: { host: "172.18.255.1" }, networking: { default: { cidr: "172.18.254.0/24" } } }),
    want: {
      reason: "EndpointUnreachable",
      message:
        "spec.endpoints.host: is not in networking.default.cidr 172.18.254.0/24, which the Service gets its address from; choose an address of it",
    },
  },
  {
    name: "AWS without credentials",
    given: onProvider({ type: "aws", aws: rawAws }),
    want: {
      reason: "CredentialsMissing",
      message:
        "spec.provider.credentialsRef: is required for provider type aws, since the cluster manages its own machines; name a Secret in namespace capa-system with AccessKeyID and SecretAccessKey",
    },
  },
  {
    name: "Google Cloud without credentials",
    given: onProvider({ type: "gcp", gcp: rawGcp }),
    want: {
      reason: "CredentialsMissing",
      message:
        "spec.provider.credentialsRef: is required for provider type gcp, since the cluster manages its own machines; name a Secret whose key credentials has the service account's JSON",
    },
  },
  {
    name: "Azure without credentials",
    given: onProvider({ type: "azure", azure: rawAzure }),
    want: {
      reason: "CredentialsMissing",
      message:
        "spec.provider.credentialsRef: is required for provider type azure, since the cluster manages its own machines; name an AzureClusterIdentity",
    },
  },
  {
    name: "credentials of AWS in a namespace that its provider does not read",
    given: onProvider(aws({}, { credentialsRef: { name: "credentials", namespace: "lattice-system" } })),
    want: {
      reason: "CredentialsMisplaced",
      message:
        "spec.provider.credentialsRef.namespace: is lattice-system, and the AWS provider reads Secrets only in its own namespace; create the Secret in capa-system",
    },
  },
  {
    name: "a provider without its settings",
    given: unchecked(onAws({}), (spec) => ({ ...spec, provider: { ...spec.provider, aws: undefined } })),
    want: {
      reason: "ProviderSettingsMissing",
      message: "spec.provider.aws: is required for provider type aws: it has the location and the machines of the cluster; add it",
    },
  },
  {
    name: "subnets without their VPC",
    given: onProvider(aws({ subnets: ["subnet-0123456789abcdef0"] })),
    want: {
      reason: "SubnetsWithoutVpc",
      message:
        "spec.provider.aws.subnets: are subnets of an existing VPC, and vpcId is absent, so a new VPC would be made; add vpcId, or remove the subnets",
    },
  },
  {
    name: "an instance type that is none",
    given: onProvider(aws({ workers: { instanceType: "large machine" } })),
    want: {
      reason: "ProviderSettingInvalid",
      message: 'spec.provider.aws.workers.instanceType: "large machine" is not a machine type of aws; use one such as m6i.large',
    },
  },
  {
    name: "an instance type of a pool that is none",
    given: onAws({ nodes: { controlPlane: 1, workers: 1, workerPools: { big: { instanceType: "m6i" } } } }),
    want: {
      reason: "ProviderSettingInvalid",
      message: 'spec.nodes.workerPools.big.instanceType: "m6i" is not a machine type of aws; use one such as m6i.large',
    },
  },
  {
    name: "a machine type that is none",
    given: onProvider(gcp({ controlPlane: { machineType: "N2 Standard" } })),
    want: {
      reason: "ProviderSettingInvalid",
      message: 'spec.provider.gcp.controlPlane.machineType: "N2 Standard" is not a machine type of gcp; use one such as n2-standard-4',
    },
  },
  {
    name: "a VM size that is none",
    given: onProvider(azure({ workers: { vmSize: "Standard D4" } })),
    want: {
      reason: "ProviderSettingInvalid",
      message: 'spec.provider.azure.workers.vmSize: "Standard D4" is not a machine type of azure; use one such as Standard_D4s_v5',
    },
  },
  {
    name: "a network name that Google Cloud refuses",
    given: onProvider(gcp({ network: "My_Network" })),
    want: {
      reason: "ProviderSettingInvalid",
      message:
        "spec.provider.gcp.network: \"My_Network\" is not the name of a network: use lower case letters, digits and '-', beginning with a letter",
    },
  },
  {
    name: "a resource group that Azure refuses",
    given: onProvider(azure({ resourceGroup: "team." })),
    want: {
      reason: "ProviderSettingInvalid",
      message:
        "spec.provider.azure.resourceGroup: \"team.\" is not the name of a resource group: use letters, digits, '-', '_', '.', '(' and ')', and no '.' at the end",
    },
  },
  {
    name: "a system disk that Azure does not have",
    given: onProvider(azure({ workers: { vmSize: "Standard_D4s_v5", diskGiB: 8000 } })),
    want: {
      reason: "ProviderSettingInvalid",
      message: "spec.provider.azure.workers.diskGiB: is 8000, and a system disk of Azure has at most 4095 GiB; lower it",
    },
  },
  {
    name: "a name that begins with a digit on Google Cloud",
    given: named("1st", rawClusterOn(gcp())),
    want: {
      reason: "NameInvalid",
      message: 'metadata.name: "1st" cannot be a part of names in Google Cloud: begin with a letter, and use at most 44 characters',
    },
  },
  {
    name: "a name that is too long for Azure",
    given: named("a".repeat(45), rawClusterOn(azure())),
    want: {
      reason: "NameInvalid",
      message: 'metadata.name: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is refused by the Azure provider: use 2 to 44 characters',
    },
  },
  {
    name: "an even number of control planes",
    given: unchecked(cluster({}), (spec) => ({ ...spec, nodes: { ...spec.nodes, controlPlane: 2 } })),
    want: { reason: "ControlPlaneEven", message: "spec.nodes.controlPlane: must be odd and is 2: etcd runs on these machines; use 3" },
  },
  {
    name: "a version that is too old",
    given: onProvider({ kubernetes: { version: "1.30.9" } }),
    want: {
      reason: "VersionUnsupported",
      message: "spec.provider.kubernetes.version: v1.30.9 is not supported by Cluster API v1.14; choose a version from 1.31 to 1.37",
    },
  },
  {
    name: "a version that is too new",
    given: onProvider({ kubernetes: { version: "1.38.0" } }),
    want: {
      reason: "VersionUnsupported",
      message: "spec.provider.kubernetes.version: v1.38.0 is not supported by Cluster API v1.14; choose a version from 1.31 to 1.37",
    },
  },
  {
    name: "a version with leading zeros",
    given: onProvider({ kubernetes: { version: "1.36.03" } }),
    want: {
      reason: "VersionInvalid",
      message: 'spec.provider.kubernetes.version: must be a whole version of Kubernetes without leading zeros, such as "1.36.3"',
    },
  },
  {
    name: "a node image of another version",
    given: onProvider({ docker: { image: "registry:5000/kindest/node:v1.35.0@sha256:00" } }),
    want: {
      reason: "ImageVersionDiffers",
      message: "spec.provider.docker.image: carries v1.35.0, and kubernetes.version is v1.36.3; name an image of that version",
    },
  },
  {
    name: "min above max",
    given: unchecked(pools({ a: { max: 5 } }), (spec) => ({ ...spec, nodes: { ...spec.nodes, workerPools: { a: { min: 7, max: 5 } } } })),
    want: {
      reason: "PoolBoundsInvalid",
      message: "spec.nodes.workerPools.a: min is 7, replicas 7 and max 5; they must be in this order, so change one of them",
    },
  },
  {
    name: "min without max",
    given: pools({ a: { min: 2 } }),
    want: {
      reason: "PoolBoundsInvalid",
      message: "spec.nodes.workerPools.a.min: is for the autoscaler, which needs max too; add max, or remove min and give replicas",
    },
  },
  {
    name: "a pool called control-plane",
    given: pools({ "control-plane": { replicas: 1 } }),
    want: {
      reason: "PoolNameTaken",
      message:
        "spec.nodes.workerPools.control-plane: would have the name row-control-plane, which the control plane has; give the pool another name",
    },
  },
  {
    name: "more nodes than Kubernetes supports",
    given: cluster({
      nodes: { controlPlane: 3, workers: 3000, workerPools: { a: { replicas: 3000 } } },
      networking: { pods: { cidr: "10.0.0.0/10" } },
    }),
    want: {
      reason: "TooManyNodes",
      message:
        "spec.nodes: can become 6003 nodes, and Kubernetes supports 5000 in one cluster; lower workers, or replicas and max of the pools",
    },
  },
  {
    name: "a label that a kubelet refuses",
    given: pools({ a: { labels: { "node-role.kubernetes.io/worker": "" } } }),
    want: {
      reason: "LabelsInvalid",
      message:
        'spec.nodes.workerPools.a.labels["node-role.kubernetes.io/worker"]: has a prefix that is reserved for Kubernetes: the kubelet would not start with it; use a prefix of your own domain',
    },
  },
  {
    name: "a label that Lattice sets",
    given: pools({ a: { labels: { "lattice.dev/pool": "b" } } }),
    want: {
      reason: "LabelsInvalid",
      message: 'spec.nodes.workerPools.a.labels["lattice.dev/pool"]: is set by Lattice to the name of the pool; remove it',
    },
  },
  {
    name: "labels that are too long together",
    given: pools({ a: { labels: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`example.com/label-${at}`, "x".repeat(60)])) } }),
    want: {
      reason: "LabelsInvalid",
      message:
        "spec.nodes.workerPools.a.labels: have 1648 characters as an argument of the kubelet, and Cluster API allows 1024; remove some",
    },
  },
  {
    name: "a taint whose key is too long",
    given: pools({ a: { taints: [{ key: "k".repeat(64), effect: "NoSchedule" }] } }),
    want: {
      reason: "TaintInvalid",
      message: "spec.nodes.workerPools.a.taints[0].key: is not a key that a kubelet accepts: name part must be no more than 63 characters",
    },
  },
  {
    name: "a drain timeout of zero",
    given: cluster({ upgrade: { drainTimeout: "0s" } }),
    want: {
      reason: "UpgradeInvalid",
      message:
        "spec.upgrade.drainTimeout: is 0, which Cluster API reads as no limit; give at least 1s, or remove it to wait without a limit",
    },
  },
  {
    name: "a drain timeout that cannot be stored",
    given: cluster({ upgrade: { drainTimeout: "900000h" } }),
    want: {
      reason: "UpgradeInvalid",
      message: "spec.upgrade.drainTimeout: is longer than Cluster API can store (2147483647s); give less, such as 1h",
    },
  },
  {
    name: "more than all machines unavailable",
    given: cluster({ upgrade: { maxUnavailable: "150%" } }),
    want: { reason: "UpgradeInvalid", message: "spec.upgrade.maxUnavailable: is 150%; a pool cannot miss more than 100% of its machines" },
  },
  {
    name: "a certificate name in upper case",
    given: onProvider({ kubernetes: { version: "1.36.3", certSANs: ["API.example.com"] } }),
    want: {
      reason: "CertSanInvalid",
      message:
        'spec.provider.kubernetes.certSANs[0]: "API.example.com" is neither a DNS name in lower case nor an IP address; kubeadm would refuse it, so correct or remove it',
    },
  },
  {
    name: "a certificate address with a mistake",
    given: onProvider({ kubernetes: { version: "1.36.3", certSANs: ["10.0.0.300"] } }),
    want: {
      reason: "CertSanInvalid",
      message:
        'spec.provider.kubernetes.certSANs[0]: "10.0.0.300" is neither a DNS name in lower case nor an IP address; kubeadm would refuse it, so correct or remove it',
    },
  },
  {
    name: "an unknown backend",
    given: annotated(cluster({}), "podman"),
    want: { reason: "BackendInvalid", message: 'metadata.annotations["lattice.dev/backend"]: must be docker or inMemory, and is "podman"' },
  },
  {
    name: "a backend on another provider",
    given: annotated(onProvider({ type: "local" }), "inMemory"),
    want: {
      reason: "BackendInvalid",
      message: 'metadata.annotations["lattice.dev/backend"]: is only for provider type docker, and this is local; remove it',
    },
  },
  {
    name: "its own parent",
    given: unchecked(cluster({}), (spec) => ({ ...spec, cellRef: "row" })),
    want: { reason: "CellRefInvalid", message: "spec.cellRef: is the cluster's own name: a cluster cannot be its own parent; remove it" },
  },
  {
    name: "another parent than the cell that creates it",
    given: cluster({ cellRef: "other" }),
    settings: { cell },
    want: {
      reason: "CellRefInvalid",
      message: "spec.cellRef: is other, and this cell is mgmt: a cluster has one parent; remove the field, or create the cluster on other",
    },
  },
  {
    name: "the name of its cell",
    given: cluster({}),
    settings: { cell: { ...cell, name: "row" } },
    want: {
      reason: "NameInvalid",
      message: "metadata.name: is the name of the cell that would create it; give the new cluster another name",
    },
  },
  {
    name: "a cell whose host cannot be in a URL",
    given: cluster({}),
    settings: { cell: { ...cell, host: "a b" } },
    want: {
      reason: "EndpointInvalid",
      message:
        'spec.cellRef: the cell\'s host "a b" is neither a DNS name nor an IP address; correct spec.endpoints.host of LatticeCluster mgmt',
    },
  },
  {
    name: "a cell whose certificates do not fit",
    given: cluster({}),
    settings: { cell: { ...cell, caBundle: "x".repeat(10_241) } },
    want: {
      reason: "TrustBundleTooLarge",
      message:
        "spec.cellRef: the certificates of cell mgmt have 10241 characters, and a node gets 1 to 10240; remove authorities that have expired from Secret lattice-cell-ca",
    },
  },
];

describe("a cluster that cannot work:", () => {
  test.each(rows)("$name", ({ given, settings, want }) => {
    const result = compileCluster(given, settings);
    const found = result.ok ? [] : result.error.map((error) => ({ reason: error.reason, message: describeClusterError(error) }));
    expect(found).toEqual([want]);
  });

  test("the table has at least forty rows with different names", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(40);
  });
});

describe("a cluster that works:", () => {
  test.each<{ readonly name: string; readonly given: LatticeCluster; readonly settings?: ClusterSettingsInput }>([
    { name: "IPv6 networks", given: networks("fd00:1::/48", "fd00:2::/108") },
    { name: "loopback on one machine", given: onProvider({ type: "local" }, { endpoints: { host: "127.0.0.1" } }) },
    { name: "loopback in memory", given: annotated(cluster({ endpoints: { host: "127.0.0.1" } }), "inMemory") },
    { name: "several control planes on a laptop", given: onProvider({ type: "local" }, { nodes: { controlPlane: 3, workers: 1 } }) },
    { name: "a label that a kubelet may set", given: pools({ a: { labels: { "node.kubernetes.io/instance-type": "big" } } }) },
    { name: "an image whose tag is no version", given: onProvider({ docker: { image: "registry:5000/kindest/node:latest" } }) },
    { name: "an image by digest", given: onProvider({ docker: { image: `kindest/node@sha256:${"0".repeat(64)}` } }) },
    {
      name: "a wildcard certificate name",
      given: onProvider({ kubernetes: { version: "1.36.3", certSANs: ["*.example.com", "fd00::1"] } }),
    },
    { name: "a cell with a DNS name on AWS", given: onAws({ endpoints: { host: "Cell.example.com" } }) },
    { name: "the parent that the spec names", given: cluster({ cellRef: "mgmt" }), settings: { cell } },
  ])("$name", ({ given, settings }) => {
    expect(compileCluster(given, settings)).toMatchObject({ ok: true });
  });
});

test("all errors of a cluster are found at once", () => {
  const result = compileCluster(onProvider({ ...aws(), credentialsRef: undefined }, { networking: { pods: { cidr: "10.96.0.0/16" } } }));
  expect(result.ok ? [] : result.error.map(({ reason }) => reason)).toEqual(["CredentialsMissing", "NetworksOverlap"]);
});
