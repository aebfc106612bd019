/**
 * LatticeCluster: a Kubernetes cluster that is provisioned through Cluster API and then owns itself.
 *
 * It has the scale subresource, on `nodes.workers`: `kubectl scale lc/prod --replicas=5` works, and RBAC can
 * allow to scale without allowing to edit. It counts the ready nodes of the pool "default", so no other pool may have that name.
 */
import type * as z from "zod";
import { object } from "./collections.ts";
import { nodes } from "./cluster/nodes.ts";
import { provider } from "./cluster/provider.ts";
import { clusterStatus } from "./cluster/status.ts";
import { clusterTransitions } from "./lattice-cluster-transitions.ts";
import { cidr, clusterName, countOrPercent, duration, flag, host, oneOf, portNumber } from "./fields.ts";
import { defineKind, type ObjectOf } from "./kind.ts";
import { ageColumn, messageColumn, phaseColumn, readyColumn } from "./manifest.ts";
import { nameAsLabel } from "./metadata.ts";
import { withRules, type Rule } from "./rules.ts";

const network = (description: string) => object(description, { cidr: cidr('Network in CIDR form, such as "10.0.0.0/16".') });

const networking = () =>
  object("Networks of the cluster.", {
    default: network("Addresses for Services of type LoadBalancer: the default pool of Cilium's LB-IPAM.").optional(),
    pods: network("Addresses of pods.").optional(),
    services: network("Addresses of Services.").optional(),
  });

const endpoints = () =>
  withRules(
    object("Where children reach this cluster. Its presence makes the cluster a cell: one that makes other clusters.", {
      host: host("Name or address that children connect to."),
      grpcPort: portNumber("Port of the agents' gRPC stream.").default(50_051),
      bootstrapPort: portNumber("Port of the bootstrap webhook that new nodes call.").default(8_443),
      proxyPort: portNumber("Port of the proxy to the children's API servers.").default(8_444),
      service: object("The Service lattice-cell, which the operator keeps.", {
        type: oneOf("Type of the Service.", ["LoadBalancer", "NodePort", "ClusterIP"]).default("LoadBalancer"),
      }).prefault({}),
    }),
    [
      {
        cel: "self.grpcPort != self.bootstrapPort && self.grpcPort != self.proxyPort && self.bootstrapPort != self.proxyPort",
        message: "grpcPort, bootstrapPort and proxyPort must differ: they are ports of one Service",
        holds: ({ grpcPort, bootstrapPort, proxyPort }) => new Set([grpcPort, bootstrapPort, proxyPort]).size === 3,
      },
    ],
  );

const specFields = () =>
  object("The cluster as it should be.", {
    provider: provider(),
    nodes: nodes(),
    networking: networking().optional(),
    endpoints: endpoints().optional(),
    cellRef: clusterName("Name of the parent. Set by the cell on its children; not written by hand.").optional(),
    upgrade: object("How nodes are replaced when the version or the machines change.", {
      maxUnavailable: countOrPercent("How many workers of a pool may be missing at a time.").optional(),
      drainTimeout: duration("How long a node may take to drain before it is removed anyway.").optional(),
    }).optional(),
    deletion: object("What happens when the cluster is deleted.", {
      unpivot: flag("Whether the parent takes the Cluster API objects back first, so that it can remove the machines.").default(true),
      timeout: duration("How long deletion may take before it is reported as failed.").optional(),
    }).prefault({}),
  });

type ClusterSpec = z.output<ReturnType<typeof specFields>>;

/** A machine field in a pool is for one provider; with another provider it would be ignored. */
const machineFieldOnlyFor = (field: "instanceType" | "machineType" | "vmSize", type: string): Rule<ClusterSpec> => ({
  cel: `self.provider.type == '${type}' || !has(self.nodes.workerPools) || self.nodes.workerPools.all(pool, !has(self.nodes.workerPools[pool].${field}))`,
  message: `${field} is only for provider type ${type}; remove it from the pool`,
  field: ["nodes", "workerPools"],
  reason: "FieldValueForbidden",
  violations: ({ provider: { type: given }, nodes: { workerPools = {} } }) =>
    Object.entries(workerPools).flatMap(([pool, fields]) =>
      given !== type && fields[field] !== undefined ? [["nodes", "workerPools", pool, field]] : [],
    ),
});

const spec = () =>
  withRules(specFields(), [
    machineFieldOnlyFor("instanceType", "aws"),
    machineFieldOnlyFor("machineType", "gcp"),
    machineFieldOnlyFor("vmSize", "azure"),
  ]);

/** A cluster to provision, with its status. */
export type LatticeCluster = ObjectOf<"LatticeCluster", ReturnType<typeof spec>, ReturnType<typeof clusterStatus>>;
export type LatticeClusterSpec = LatticeCluster["spec"];
export type LatticeClusterStatus = NonNullable<LatticeCluster["status"]>;

export const latticeClusterKind = defineKind<LatticeCluster>({
  kind: "LatticeCluster",
  plural: "latticeclusters",
  shortName: "lc",
  namespaced: false,
  purpose: "A Kubernetes cluster that is provisioned through Cluster API and then owns itself.",
  name: nameAsLabel(58, 'its Cluster API objects live in the namespace "capi-<name>"'),
  spec,
  status: clusterStatus,
  columns: [
    phaseColumn,
    readyColumn,
    { name: "Provider", type: "string", jsonPath: ".spec.provider.type", description: "Kind of infrastructure." },
    { name: "Version", type: "string", jsonPath: ".status.kubernetesVersion", description: "Kubernetes version that runs." },
    { name: "Nodes", type: "integer", jsonPath: ".status.readyNodes", description: "Nodes that are ready." },
    { name: "Agent", type: "string", jsonPath: ".status.agent.state", description: "State of the connection to the parent." },
    { name: "Owner", type: "string", jsonPath: ".status.ownedBy", description: "Who drives its Cluster API objects.", priority: 1 },
    messageColumn,
    ageColumn,
  ],
  scale: { specReplicasPath: ".spec.nodes.workers", statusReplicasPath: ".status.pools.default.ready" },
  rules: [
    {
      cel: "!has(self.spec.cellRef) || self.spec.cellRef != self.metadata.name",
      message: "must not be the cluster's own name: a cluster cannot be its own parent",
      field: ["spec", "cellRef"],
      holds: ({ metadata, spec: { cellRef } }) => cellRef === undefined || String(cellRef) !== metadata.name,
    },
  ],
  transitions: clusterTransitions,
});

export const latticeClusters = latticeClusterKind.resource;
export const parseLatticeCluster = latticeClusterKind.parse;
