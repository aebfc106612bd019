/**
 * What a backup is of, and the objects of Lattice that belong to it: the LatticeCluster, and for a cluster that is backed up by itself its
 * identity, its authority and what it knows of its parent and its children.
 */
import { err, ok, type Result } from "#base";
import { IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET } from "#controllers";
import { latticeClusters } from "#crds";
import { ACCESS_LABEL } from "#http";
import { apiVersionOf, capiClusters, configMaps, secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { AGENT_CERTIFICATE_SECRET, CELL_AUTHORITY_SECRET, OPERATOR_NAMESPACE } from "#operator";
import type { BesideKind, WholeNode } from "#pivot";
import type { CommandIo } from "../io.ts";
import { pivotNamespace, readLatticeCluster } from "../pivot/child.ts";

export type BackupSubject = { readonly name: string; /** The cluster that is connected to. */ readonly self: boolean };

/** `name` undefined: the cluster itself, by its identity. */
export async function subjectOf(
  { signal }: CommandIo,
  client: KubeClient,
  name: string | undefined,
): Promise<Result<BackupSubject, string>> {
  const identity = await client.get(configMaps, { namespace: OPERATOR_NAMESPACE, name: IDENTITY_CONFIG_MAP }, { signal });
  if (!identity.ok && identity.error.kind !== "not-found") return err(identity.error.message);
  const own = identity.ok ? identity.value.data?.["cluster"] : undefined;
  if (name === undefined && own === undefined)
    return err(
      `this cluster has no identity (ConfigMap ${OPERATOR_NAMESPACE}/${IDENTITY_CONFIG_MAP}); name a LatticeCluster instead of --self`,
    );
  const subject = { name: name ?? own ?? "", self: name === undefined || name === own };
  const cluster = await readLatticeCluster(client, subject.name, signal);
  if (!cluster.ok) return cluster;
  const namespace = pivotNamespace(subject.name);
  const capi = await client.get<KubeObject>(capiClusters, { namespace, name: subject.name }, { signal });
  if (capi.ok) return ok(subject);
  if (capi.error.kind !== "not-found") return err(capi.error.message);
  return err(
    subject.self
      ? `this cluster does not own itself: namespace ${namespace} has no Cluster; back it up on its parent, by its name`
      : `cluster ${subject.name} owns itself: namespace ${namespace} has no Cluster here; run lattice backup --self with its own kubeconfig`,
  );
}

export const BESIDE_KINDS: readonly BesideKind[] = [
  { resource: latticeClusters, rule: "alone", hasStatus: true, namespace: "" },
  { resource: secrets, rule: "alone", hasStatus: false, namespace: OPERATOR_NAMESPACE },
  { resource: configMaps, rule: "alone", hasStatus: false, namespace: OPERATOR_NAMESPACE },
];

const OWN_SECRETS = [PARENT_CONFIG_SECRET, CELL_AUTHORITY_SECRET, AGENT_CERTIFICATE_SECRET];

export type BesideObjects = {
  readonly nodes: readonly WholeNode[];
  /** Children whose Cluster API objects are in this cluster: their backups of their own have all that belongs to them. */
  readonly leftOut: readonly string[];
};

/**
 * A cell has the LatticeClusters and access records of its children that own themselves; without them they could not connect to it again. Those of any other
 * child are useless without its Cluster API objects: an operator that finds only them makes its machines a second time.
 */
export async function readBeside(
  { signal }: CommandIo,
  client: KubeClient,
  { name, self }: BackupSubject,
): Promise<Result<BesideObjects, string>> {
  const namespace = OPERATOR_NAMESPACE;
  const [clusterKind, secretKind, configKind] = BESIDE_KINDS;
  if (clusterKind === undefined || secretKind === undefined || configKind === undefined) return ok({ nodes: [], leftOut: [] });
  const clusters = await client.list<KubeObject>(clusterKind.resource, {}, { signal });
  if (!clusters.ok) return err(clusters.error.message);
  const access = await client.list<KubeObject>(secretKind.resource, { namespace, labelSelector: `${ACCESS_LABEL}=true` }, { signal });
  if (!access.ok) return err(access.error.message);
  const owned = self ? await ownedClusters(client, signal) : ok(new Set<string>());
  if (!owned.ok) return owned;
  const isSaved = (cluster: string) => cluster === name || (self && !owned.value.has(cluster));
  const names = clusters.value.items.map(({ metadata }) => metadata.name);
  const savedAccess = new Set(names.filter(isSaved).map((cluster) => `lattice-access-${cluster}`));
  const nodes = [
    ...clusters.value.items.filter(({ metadata }) => isSaved(metadata.name)).map((object) => nodeOf(clusterKind, object)),
    ...access.value.items.filter(({ metadata }) => savedAccess.has(metadata.name)).map((object) => nodeOf(secretKind, object)),
  ];
  const wanted = self ? [...OWN_SECRETS.map((one) => [secretKind, one] as const), [configKind, IDENTITY_CONFIG_MAP] as const] : [];
  for (const [kind, one] of wanted) {
    const found = await client.get<KubeObject>(kind.resource, { namespace, name: one }, { signal });
    if (found.ok) nodes.push(nodeOf(kind, found.value));
    else if (found.error.kind !== "not-found") return err(found.error.message);
  }
  return ok({ nodes, leftOut: self ? names.filter((cluster) => cluster !== name && owned.value.has(cluster)) : [] });
}

/** The clusters whose Cluster API objects are here. */
async function ownedClusters(client: KubeClient, signal: AbortSignal): Promise<Result<ReadonlySet<string>, string>> {
  const listed = await client.list<KubeObject>(capiClusters, {}, { signal });
  if (!listed.ok) return err(listed.error.message);
  const here = listed.value.items.filter(({ metadata }) => metadata.namespace === pivotNamespace(metadata.name));
  return ok(new Set(here.map(({ metadata }) => metadata.name)));
}

/** Without owners: what owns them is not saved. */
function nodeOf(kind: BesideKind, object: KubeObject): WholeNode {
  const { ownerReferences: _owners, ...metadata } = object.metadata;
  const whole = { ...object, apiVersion: apiVersionOf(kind.resource), kind: kind.resource.kind, metadata };
  return { uid: metadata.uid ?? "", kind, object: whole, owners: [], level: 0 };
}
