/** Reads what the plan of a move is made from: the objects of the namespace, what they refer to, the providers and the definitions. */
import { ok } from "#base";
import { capiClusters, capiProviders, customResourceDefinitions, fieldAt, secrets, type KubeObject } from "#kube";
import { moveKinds, servedVersions, type MoveKind } from "../graph/move-kind.ts";
import { CLUSTERCTL_LABEL, CORE_GROUP } from "../graph/names.ts";
import type { DiscoveredObject } from "../graph/name-index.ts";
import { buildGraph, type ObjectGraph } from "../graph/object-graph.ts";
import { outlineOf, type ObjectOutline } from "../graph/outline.ts";
import type { TargetFacts } from "../plan/problems.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";

/** What the source serves: read once in a run, because definitions are large. */
export type SourceKinds = {
  readonly kinds: readonly MoveKind[];
  readonly providers: readonly KubeObject[];
  /** Definitions of Cluster API without clusterctl's label. */
  readonly unlabelled: readonly MoveKind[];
};

/** References lead to objects that have references themselves: an identity, and its Secret. */
const REFERENCE_ROUNDS = 4;

export async function discoverKinds(source: ApiSide): Moved<SourceKinds> {
  const [crds, providers] = await Promise.all([source.list(customResourceDefinitions), source.list(capiProviders)]);
  if (!crds.ok) return crds;
  const isLabelled = ({ metadata: { labels = {} } }: KubeObject) => Object.hasOwn(labels, CLUSTERCTL_LABEL);
  const kinds = moveKinds(crds.value.filter(isLabelled));
  if (!kinds.some(({ resource }) => resource.group === CORE_GROUP && resource.kind === "Cluster"))
    return refusal(`the source has no definition of Cluster with label ${CLUSTERCTL_LABEL}; is Cluster API installed there?`);
  if (!providers.ok) return providers;
  const unlabelled = moveKinds(crds.value.filter((crd) => !isLabelled(crd))).filter(isOfClusterApi);
  return ok({ kinds, providers: providers.value, unlabelled });
}

const isOfClusterApi = ({ resource: { group, namespaced } }: MoveKind) => namespaced && `.${group}`.endsWith(`.${CORE_GROUP}`);

export type GraphRequest<T extends ObjectOutline> = {
  readonly namespace: string;
  readonly kinds: SourceKinds;
  /** What is held of each object: its outline, or all of it. */
  readonly take: (object: KubeObject) => T;
};

export async function discoverGraph<T extends ObjectOutline>(source: ApiSide, request: GraphRequest<T>): Moved<ObjectGraph<T>> {
  const listed = await listObjects(source, request);
  return listed.ok ? graphOf(source, request, listed.value) : listed;
}

async function listObjects<T extends ObjectOutline>(source: ApiSide, request: GraphRequest<T>): Moved<readonly DiscoveredObject<T>[]> {
  const { namespace, take } = request;
  const { kinds, providers } = request.kinds;
  const places = kinds.map((kind) => ({ kind, namespace: kind.resource.namespaced ? namespace : undefined }));
  const secretKind = kinds.find(({ resource }) => resource === secrets);
  const infrastructure = providers.filter((provider) => fieldAt(provider, "type") === "InfrastructureProvider");
  const beside = new Set(infrastructure.flatMap(({ metadata }) => metadata.namespace ?? []).filter((name) => name !== namespace));
  const more = secretKind === undefined ? [] : [...beside].map((name) => ({ kind: secretKind, namespace: name }));
  const listed = await inParallel([...places, ...more], PARALLEL, async ({ kind, namespace: place }) => {
    return source.collect(kind.resource, { namespace: place }, (object) => ({ kind, object: take(object) }));
  });
  return listed.ok ? ok(listed.value.flat()) : listed;
}

/** Reads what references to other namespaces name, until there are no more. */
async function graphOf<T extends ObjectOutline>(
  source: ApiSide,
  { namespace, kinds: { kinds }, take }: GraphRequest<T>,
  objects: readonly DiscoveredObject<T>[],
): Moved<ObjectGraph<T>> {
  const classesUsedElsewhere = await usedElsewhere(source, namespace, objects);
  if (!classesUsedElsewhere.ok) return classesUsedElsewhere;
  const world = { namespace, objects, classesUsedElsewhere: classesUsedElsewhere.value };
  let graph = buildGraph(world);
  let known = objects;
  for (let round = 0; round < REFERENCE_ROUNDS && graph.unresolved.length > 0; round += 1) {
    const found = await inParallel(graph.unresolved, PARALLEL, async ({ from, reference }) => {
      const group = reference.kind === "Secret" ? "" : from.apiVersion.split("/")[0];
      const kind = kinds.find(({ resource }) => resource.kind === reference.kind && resource.group === group);
      if (kind === undefined || reference.namespace === undefined) return ok([]);
      const object = await source.get(kind.resource, { namespace: reference.namespace, name: reference.name });
      return object.ok ? ok(object.value === undefined ? [] : [{ kind, object: take(object.value) }]) : object;
    });
    if (!found.ok) return found;
    if (found.value.flat().length === 0) break;
    known = [...known, ...found.value.flat()];
    graph = buildGraph({ ...world, objects: known });
  }
  return ok(graph);
}

/** Names of the namespace's ClusterClasses that Clusters of other namespaces use. Without classes nothing is read. */
async function usedElsewhere(source: ApiSide, namespace: string, objects: readonly DiscoveredObject[]): Moved<ReadonlySet<string>> {
  if (!objects.some(({ object }) => object.kind === "ClusterClass" && object.metadata.namespace === namespace)) return ok(new Set());
  const names = await source.collect(capiClusters, {}, (cluster) => {
    const reference = fieldAt(cluster, "spec", "topology", "classRef");
    const isOurs = cluster.metadata.namespace !== namespace && fieldAt(reference, "namespace") === namespace;
    const name = fieldAt(reference, "name");
    return isOurs && typeof name === "string" ? name : undefined;
  });
  return names.ok ? ok(new Set(names.value)) : names;
}

/** Objects of unlabelled kinds that moved objects own: they would be lost. */
export async function unlabelledObjects(source: ApiSide, namespace: string, found: Unlabelled): Moved<readonly ObjectOutline[]> {
  const moved = new Set(found.graph.moved.map(({ uid }) => uid));
  const isOwned = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).some(({ uid }) => moved.has(uid));
  const listed = await inParallel(found.kinds.unlabelled, PARALLEL, ({ resource }) =>
    source.collect(resource, { namespace }, (object) => (isOwned(object) ? outlineOf(object) : undefined)),
  );
  return listed.ok ? ok(listed.value.flat()) : listed;
}

type Unlabelled = { readonly graph: ObjectGraph; readonly kinds: SourceKinds };

export async function discoverTarget(target: ApiSide): Moved<TargetFacts> {
  const [crds, providers] = await Promise.all([target.list(customResourceDefinitions), target.list(capiProviders)]);
  if (!crds.ok) return crds;
  return providers.ok ? ok({ providers: providers.value, served: servedVersions(crds.value) }) : providers;
}
