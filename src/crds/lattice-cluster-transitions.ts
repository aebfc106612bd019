/**
 * Immutable fields of a LatticeCluster: the provider cannot change them, so the API server rejects the update at once. The node image of docker
 * carries one version of Kubernetes, so it changes only in the same update as the version.
 */
import type { LatticeCluster } from "./lattice-cluster.ts";
import type { Transition } from "./rules.ts";

type Provider = LatticeCluster["spec"]["provider"];

const immutable = (what: string) => `cannot be changed: ${what} needs a new cluster`;

/** A field that is required in its block. */
function required(on: string, what: string, read: (provider: Provider) => string | undefined): Transition<LatticeCluster> {
  return { on, cel: "self == oldSelf", message: immutable(what), holds: (before, after) => same(read, before, after) };
}

/** An optional field, which must stay absent if it is absent: the rule is on the provider, which is always present. */
function optional(
  field: readonly [string, string],
  what: string,
  read: (provider: Provider) => string | undefined,
): Transition<LatticeCluster> {
  const [block, name] = field;
  const valueIn = (self: string) => `(has(${self}.${block}) && has(${self}.${block}.${name}) ? ${self}.${block}.${name} : '')`;
  return {
    on: "spec.provider",
    field,
    cel: `${valueIn("self")} == ${valueIn("oldSelf")}`,
    message: immutable(what),
    holds: (before, after) => same(read, before, after),
  };
}

const imageIn = (self: string) => `(has(${self}.docker) && has(${self}.docker.image) ? ${self}.docker.image : '')`;
/** The version with and without "v" is the same version. */
const versionIn = (self: string) => `${self}.kubernetes.version.replace('v', '')`;
const versionOf = ({ kubernetes }: Provider) => kubernetes.version.replaceAll("v", "");

const imageWithVersion: Transition<LatticeCluster> = {
  on: "spec.provider",
  field: ["docker", "image"],
  cel: `${imageIn("self")} == ${imageIn("oldSelf")} || ${versionIn("self")} != ${versionIn("oldSelf")}`,
  message: "can be changed only together with kubernetes.version: a node image carries one version of Kubernetes",
  holds: (before, after) => same((provider) => provider.docker?.image, before, after) || !same(versionOf, before, after),
};

function same(read: (provider: Provider) => string | undefined, before: LatticeCluster, after: LatticeCluster): boolean {
  return read(before.spec.provider) === read(after.spec.provider);
}

export const clusterTransitions: readonly Transition<LatticeCluster>[] = [
  required("spec.provider.type", "another provider", (provider) => provider.type),
  imageWithVersion,
  required("spec.provider.aws.region", "another region", (provider) => provider.aws?.region),
  optional(["aws", "vpcId"], "another VPC", (provider) => provider.aws?.vpcId),
  required("spec.provider.gcp.project", "another project", (provider) => provider.gcp?.project),
  required("spec.provider.gcp.region", "another region", (provider) => provider.gcp?.region),
  optional(["gcp", "network"], "another network", (provider) => provider.gcp?.network),
  required("spec.provider.azure.subscriptionId", "another subscription", (provider) => provider.azure?.subscriptionId),
  required("spec.provider.azure.location", "another location", (provider) => provider.azure?.location),
  optional(["azure", "resourceGroup"], "another resource group", (provider) => provider.azure?.resourceGroup),
];
