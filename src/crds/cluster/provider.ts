/**
 * `spec.provider` of a LatticeCluster: the infrastructure of the machines.
 *
 * The location of a cluster (region, network, subscription) is immutable: a provider cannot move a cluster. The properties of a machine are
 * mutable: the compiler replaces the nodes with a new template.
 */
import { listOf, object } from "../collections.ts";
import { integer, oneOf, patterned, text } from "../fields.ts";
import { namespacedRef } from "../references.ts";
import { withRules, type Rule } from "../rules.ts";
import type * as z from "zod";

const PROVIDER_TYPES = ["docker", "aws", "gcp", "azure", "local"] as const;

export const diskGiB = () => integer("Size of the root disk in GiB.", 10, 65_536);
export const instanceType = () => text("EC2 instance type, such as m6i.large.", 64);
export const machineType = () => text("Compute Engine machine type, such as n2-standard-4.", 64);
export const vmSize = () => text("Azure VM size, such as Standard_D4s_v5.", 64);

const awsMachine = (description: string) => object(description, { instanceType: instanceType(), diskGiB: diskGiB().optional() });
const gcpMachine = (description: string) => object(description, { machineType: machineType(), diskGiB: diskGiB().optional() });
const azureMachine = (description: string) => object(description, { vmSize: vmSize(), diskGiB: diskGiB().optional() });

function identifier(description: string, prefix: string) {
  const pattern = `^${prefix}-[0-9a-f]{8,17}$`;
  return patterned(description, { pattern, max: 32, message: `must be an identifier such as ${prefix}-0123456789abcdef0` });
}

/** A host name, or a wildcard for all names of a domain. */
const subjectName = () =>
  patterned("A DNS name or an IP address.", {
    pattern: "^((\\*\\.)?[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[0-9A-Fa-f:]+)$",
    max: 253,
    message: "must be a DNS name or an IP address, without scheme and port",
  });

const kubernetes = () =>
  object("Which Kubernetes the cluster runs.", {
    version: patterned('Version, such as "1.36.3"; with or without a leading "v".', {
      pattern: "^v?1\\.[0-9]{1,3}\\.[0-9]{1,3}(-[0-9A-Za-z.-]{1,64})?(\\+[0-9A-Za-z.-]{1,64})?$",
      max: 140,
      message: 'must be a whole version of Kubernetes, such as "1.36.3"',
    }),
    certSANs: listOf("Further names and addresses in the API server's certificate.", subjectName(), { max: 64, type: "set" }).optional(),
  });

const docker = () =>
  object("Settings for type docker.", {
    image: patterned(
      "Node image; absent: the one of the Kubernetes version. It can be changed only together with the version, which it carries.",
      {
        pattern: "^[^\\s]+$",
        max: 512,
        message: "must be an image, such as kindest/node:v1.36.3",
      },
    ),
  });

const aws = () =>
  object("Settings for type aws.", {
    region: patterned("Region, such as eu-central-1; it cannot be changed.", {
      pattern: "^[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}$",
      max: 32,
      message: "must be a region of AWS, such as eu-central-1",
    }),
    sshKeyName: text("EC2 key pair for access to the machines.", 255).optional(),
    vpcId: identifier("Existing VPC; absent: one is made. It cannot be changed.", "vpc").optional(),
    subnets: listOf("Existing subnets of the VPC.", identifier("A subnet.", "subnet"), { max: 32, type: "set" }).optional(),
    ami: identifier("Machine image; absent: the one published for the Kubernetes version.", "ami").optional(),
    controlPlane: awsMachine("Machines of the control plane."),
    workers: awsMachine("Machines of the workers; a pool may choose another."),
  });

const gcp = () =>
  object("Settings for type gcp.", {
    project: patterned("Project that pays for the cluster; it cannot be changed.", {
      pattern: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$",
      max: 30,
      message: "must be a project's ID: 6 to 30 lower case letters, digits and '-', beginning with a letter",
    }),
    region: patterned("Region, such as europe-west1; it cannot be changed.", {
      pattern: "^[a-z]+-[a-z]+[0-9]{1,2}$",
      max: 32,
      message: "must be a region of Google Cloud, such as europe-west1",
    }),
    network: text("Name of the VPC network; absent: default. It cannot be changed.", 63).optional(),
    controlPlane: gcpMachine("Machines of the control plane."),
    workers: gcpMachine("Machines of the workers; a pool may choose another."),
  });

const azure = () =>
  object("Settings for type azure.", {
    subscriptionId: patterned("Subscription that pays for the cluster; it cannot be changed.", {
      pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
      max: 36,
      message: "must be a subscription's ID: a UUID",
    }),
    location: patterned("Location, such as westeurope; it cannot be changed.", {
      pattern: "^[a-z][a-z0-9]{2,31}$",
      max: 32,
      message: "must be a location of Azure, such as westeurope",
    }),
    resourceGroup: text("Resource group; absent: one with the cluster's name is made. It cannot be changed.", 90).optional(),
    controlPlane: azureMachine("Machines of the control plane."),
    workers: azureMachine("Machines of the workers; a pool may choose another."),
  });

const providerFields = () =>
  object("Where the machines come from.", {
    type: oneOf("Kind of infrastructure; it cannot be changed. local is for the fleet on a laptop.", PROVIDER_TYPES),
    kubernetes: kubernetes(),
    credentialsRef: namespacedRef(
      "What the cloud's controllers authenticate with, needed for clouds: a Secret in capa-system (aws), a Secret (gcp), an AzureClusterIdentity (azure).",
    ).optional(),
    docker: docker().optional(),
    aws: aws().optional(),
    gcp: gcp().optional(),
    azure: azure().optional(),
  });

type Provider = z.output<ReturnType<typeof providerFields>>;
type Block = "docker" | "aws" | "gcp" | "azure";

const onlyFor = (block: Block): Rule<Provider> => ({
  cel: `!has(self.${block}) || self.type == '${block}'`,
  message: `is only for provider type ${block}; remove it, or change the type`,
  field: [block],
  reason: "FieldValueForbidden",
  holds: (provider) => provider[block] === undefined || provider.type === block,
});

const neededBy = (block: Block): Rule<Provider> => ({
  cel: `self.type != '${block}' || has(self.${block})`,
  message: `is required for provider type ${block}: it says where the cluster is made, and of what machines`,
  field: [block],
  reason: "FieldValueRequired",
  holds: (provider) => provider.type !== block || provider[block] !== undefined,
});

export const provider = () =>
  withRules(providerFields(), [
    ...(["docker", "aws", "gcp", "azure"] as const).map(onlyFor),
    ...(["aws", "gcp", "azure"] as const).map(neededBy),
  ]);
