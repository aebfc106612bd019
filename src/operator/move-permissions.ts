/**
 * What a move of Cluster API objects requests, on both of its sides: a cell moves the objects of a child into it, and back, through the agent of the child
 * and with the credential of the child's operator. So these are rights of every operator, and of every parent in its children.
 *
 * They are wider than what Cluster API itself needs there: with them a parent writes any Secret and ConfigMap of a child, and its machines, but no roles and no bindings. A
 * parent has made the child and its operator, so it must be trusted as long as it is the parent (docs/security.md).
 */
import type { Need } from "#controller-runtime";
import { latticeClusters } from "#crds";
import { capiProviders, configMaps, customResourceDefinitions, leases, namespaces, secrets, type Resource } from "#kube";

/** Kinds are found by their definitions, with those of providers that this program does not know; their groups are few. */
const GROUPS = [
  "cluster.x-k8s.io",
  "addons.cluster.x-k8s.io",
  "bootstrap.cluster.x-k8s.io",
  "controlplane.cluster.x-k8s.io",
  "infrastructure.cluster.x-k8s.io",
  "ipam.cluster.x-k8s.io",
  "infrastructure.lattice.dev",
  // what the Azure provider makes for a cluster, by Azure Service Operator
  "containerservice.azure.com",
  "kubernetesconfiguration.azure.com",
  "network.azure.com",
  "resources.azure.com",
];

/** Kinds that are looked at, because clusterctl labels their definitions, and never written. */
const READ_GROUPS = ["runtime.cluster.x-k8s.io"];

/** All kinds of a group, and their status. */
const allOf = (group: string): Resource => ({ group, version: "v1beta2", kind: "*", plural: "*", namespaced: true });

const WRITE = ["create", "update", "patch", "delete"];

export const MOVE_PERMISSIONS: readonly Need[] = [
  ...GROUPS.map((group): Need => ({ resource: allOf(group), verbs: ["get", "list", ...WRITE] })),
  ...READ_GROUPS.map((group): Need => ({ resource: allOf(group), verbs: ["get", "list"] })),
  { resource: secrets, verbs: ["get", "list", ...WRITE] },
  { resource: configMaps, verbs: ["get", "list", ...WRITE] },
  { resource: namespaces, verbs: ["get", "create"] },
  { resource: customResourceDefinitions, verbs: ["list"] },
  { resource: capiProviders, verbs: ["list"] },
  // the claim of a move; `create` cannot be limited to a name
  { resource: leases, verbs: ["create"] },
  { resource: leases, verbs: ["get", "update", "delete"], names: ["lattice-move"] },
  // the cluster's own resource, copied before the pivot and back after changes
  { resource: latticeClusters, verbs: ["get", "list", "create", "update", "patch"] },
];
