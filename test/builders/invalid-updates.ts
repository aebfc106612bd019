/** Updates that must be rejected, between valid objects. */
import type { InvalidUpdate } from "./invalid-resource.ts";
import { rawAws, rawAzure, rawCluster, rawClusterOn, rawGcp } from "./valid-resources.ts";

const onAws = (fields: Readonly<Record<string, unknown>>) => rawClusterOn({ type: "aws", aws: { ...rawAws, ...fields } });
const onGcp = (fields: Readonly<Record<string, unknown>>) => rawClusterOn({ type: "gcp", gcp: { ...rawGcp, ...fields } });
const onAzure = (fields: Readonly<Record<string, unknown>>) => rawClusterOn({ type: "azure", azure: { ...rawAzure, ...fields } });

export const invalidUpdates: readonly InvalidUpdate[] = [
  {
    name: "another provider",
    before: rawCluster(),
    after: rawClusterOn({ type: "local" }),
    wantPath: "spec.provider.type",
    wantMessage: "cannot be changed: another provider needs a new cluster",
  },
  {
    name: "another node image",
    before: rawClusterOn({ docker: { image: "kindest/node:v1.36.3" } }),
    after: rawClusterOn({ docker: { image: "kindest/node:v1.36.4" } }),
    wantPath: "spec.provider.docker.image",
    wantMessage: "can be changed only together with kubernetes.version: a node image carries one version of Kubernetes",
  },
  {
    name: "another node image and the same version, written differently",
    before: rawClusterOn({ docker: { image: "kindest/node:v1.36.3" } }),
    after: rawClusterOn({ docker: { image: "kindest/node:v1.36.4" }, kubernetes: { version: "v1.36.3" } }),
    wantPath: "spec.provider.docker.image",
    wantMessage: "can be changed only together with kubernetes.version: a node image carries one version of Kubernetes",
  },
  {
    name: "a node image where there was none",
    before: rawCluster(),
    after: rawClusterOn({ docker: { image: "kindest/node:v1.36.3" } }),
    wantPath: "spec.provider.docker.image",
    wantMessage: "can be changed only together with kubernetes.version: a node image carries one version of Kubernetes",
  },
  {
    name: "another region of AWS",
    before: onAws({}),
    after: onAws({ region: "eu-west-1" }),
    wantPath: "spec.provider.aws.region",
    wantMessage: "cannot be changed: another region needs a new cluster",
  },
  {
    name: "a VPC where there was none",
    before: onAws({}),
    after: onAws({ vpcId: "vpc-0123456789abcdef0" }),
    wantPath: "spec.provider.aws.vpcId",
    wantMessage: "cannot be changed: another VPC needs a new cluster",
  },
  {
    name: "another project",
    before: onGcp({}),
    after: onGcp({ project: "lattice-other" }),
    wantPath: "spec.provider.gcp.project",
    wantMessage: "cannot be changed: another project needs a new cluster",
  },
  {
    name: "another region of Google Cloud",
    before: onGcp({}),
    after: onGcp({ region: "us-east1" }),
    wantPath: "spec.provider.gcp.region",
    wantMessage: "cannot be changed: another region needs a new cluster",
  },
  {
    name: "no network where there was one",
    before: onGcp({ network: "main" }),
    after: onGcp({}),
    wantPath: "spec.provider.gcp.network",
    wantMessage: "cannot be changed: another network needs a new cluster",
  },
  {
    name: "another subscription",
    before: onAzure({}),
    after: onAzure({ subscriptionId: "11111111-1111-1111-1111-111111111111" }),
    wantPath: "spec.provider.azure.subscriptionId",
    wantMessage: "cannot be changed: another subscription needs a new cluster",
  },
  {
    name: "another location",
    before: onAzure({}),
    after: onAzure({ location: "northeurope" }),
    wantPath: "spec.provider.azure.location",
    wantMessage: "cannot be changed: another location needs a new cluster",
  },
  {
    name: "another resource group",
    before: onAzure({ resourceGroup: "a" }),
    after: onAzure({ resourceGroup: "b" }),
    wantPath: "spec.provider.azure.resourceGroup",
    wantMessage: "cannot be changed: another resource group needs a new cluster",
  },
];
