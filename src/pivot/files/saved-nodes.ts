/**
 * Saved objects as the nodes of a move into a target: their kinds are those that the target defines, their order is that of their owners.
 * What no Cluster of the files owns or refers to is refused: files may be hostile, and a move writes only what belongs to clusters. Pure.
 */
import { describeObject, isJsonObject, type KubeObject } from "#kube";
import type { MoveKind } from "../graph/move-kind.ts";
import { buildGraph, type MoveNode, type ObjectGraph, type WholeNode } from "../graph/object-graph.ts";
import type { PausableEntry } from "../journal/records.ts";
import { isPaused, pausedBy } from "../plan/content.ts";
import type { SavedObject } from "./saved-objects.ts";

export type SavedGraph = {
  readonly graph: ObjectGraph<KubeObject>;
  /** Objects of Lattice, of a backup. */
  readonly beside: readonly WholeNode[];
  /** Clusters and ClusterClasses, which are created paused. */
  readonly pausables: readonly PausableEntry[];
  readonly problems: readonly string[];
};

export type SavedWorld = {
  readonly namespace: string;
  readonly objects: readonly SavedObject[];
  /** Of the target: those that are moved. */
  readonly kinds: readonly MoveKind[];
  /** That may be beside them, by namespace ("" for cluster-scoped kinds). */
  readonly besideKinds: readonly BesideKind[];
  /** From the manifest; undefined: everything is unpaused at the end. */
  readonly wasPaused: ReadonlySet<string> | undefined;
};

export type BesideKind = MoveKind & { readonly namespace: string };

export function pausableName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

export function savedGraph(world: SavedWorld): SavedGraph {
  const problems: string[] = [];
  const uids = new Set(world.objects.map(({ object }) => object.metadata.uid));
  const capi = world.objects.filter(({ beside }) => !beside);
  const discovered = capi.flatMap(({ file, object }) => {
    const kind = kindIn(world.kinds, object);
    if (kind === undefined)
      problems.push(`${file}: the target does not move ${object.kind} of ${object.apiVersion}; install its provider there`);
    return kind === undefined ? [] : [{ kind, object: withoutDeletion(object) }];
  });
  const graph = buildGraph({ namespace: world.namespace, objects: discovered, classesUsedElsewhere: new Set() });
  const moved = new Set(graph.moved.map(({ uid }) => uid));
  for (const { object } of discovered)
    if (!moved.has(object.metadata.uid ?? ""))
      problems.push(`${describeObject(object)} belongs to no Cluster of these files; remove its file`);
  const beside = world.objects
    .filter((one) => one.beside)
    .flatMap(({ file, object }) => {
      const kind = world.besideKinds.find((one) => isOfKind(one, object) && one.namespace === (object.metadata.namespace ?? ""));
      if (kind === undefined) problems.push(`${file}: ${describeObject(object)} is no part of a backup; it was edited`);
      return kind === undefined ? [] : [nodeOf(kind, withKnownOwners(object, uids))];
    });
  return { graph, beside, pausables: pausablesOf(graph.moved, world.wasPaused), problems };
}

/** In the version of the file, which the plan checks to be served. */
function kindIn(kinds: readonly MoveKind[], object: KubeObject): MoveKind | undefined {
  const found = kinds.find((kind) => isOfKind(kind, object));
  const version = object.apiVersion.split("/").at(-1) ?? "";
  return found === undefined || found.resource.version === version ? found : { ...found, resource: { ...found.resource, version } };
}

function isOfKind({ resource }: MoveKind, { apiVersion, kind, metadata }: KubeObject): boolean {
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
  return resource.group === group && resource.kind === kind && resource.namespaced === (metadata.namespace !== undefined);
}

/** A saved object may have been in deletion; it is created anew, and what deleted it decides again. */
function withoutDeletion(object: KubeObject): KubeObject {
  const { deletionTimestamp: _time, ...metadata } = object.metadata;
  const { deletionGracePeriodSeconds: _grace, ...rest } = metadata as typeof metadata & { readonly deletionGracePeriodSeconds?: number };
  return { ...object, metadata: rest };
}

function withKnownOwners(object: KubeObject, uids: ReadonlySet<string | undefined>): KubeObject {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const known = ownerReferences.filter(({ uid }) => uids.has(uid));
  return { ...object, metadata: { ...metadata, ...(known.length === 0 ? {} : { ownerReferences: known }) } };
}

function nodeOf(kind: MoveKind, object: KubeObject): WholeNode {
  return { uid: object.metadata.uid ?? "", kind, object: withoutDeletion(object), owners: [], level: 0 };
}

function pausablesOf(moved: readonly MoveNode[], wasPaused: ReadonlySet<string> | undefined): readonly PausableEntry[] {
  return moved
    .filter(({ object, kept }) => kept === undefined && pausedBy(object) !== undefined)
    .map(({ object, kind: { resource } }) => {
      const { group, version, kind, plural, namespaced } = resource;
      const { name } = object.metadata;
      return { kind: { group, version, kind, plural, namespaced }, name, wasPaused: wasPaused?.has(pausableName({ kind, name })) === true };
    });
}

/** Clusters and ClusterClasses that are paused as they are saved. */
export function pausedNow(moved: readonly MoveNode[]): readonly PausableEntry[] {
  const names = moved
    .filter(({ object }) => isJsonObject(object) && isPaused(object))
    .map(({ object }) => pausableName({ kind: object.kind, name: object.metadata.name }));
  return pausablesOf(moved, new Set(names));
}
