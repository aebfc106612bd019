/**
 * Why a move cannot begin, one sentence per reason and all reasons at once. Pure.
 *
 * The conditions are those of clusterctl, and those whose absence makes clusterctl lose or leave objects.
 */
import { describeObject, field, fieldAt, findCondition, groupResourceOf, isBeingDeleted, type KubeObject } from "#kube";
import { versionText } from "../graph/move-kind.ts";
import { CORE_GROUP } from "../graph/names.ts";
import type { MoveNode, ObjectGraph } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import { isAtLeast } from "./provider-version.ts";

export type TargetFacts = {
  readonly providers: readonly KubeObject[];
  /** "machines.cluster.x-k8s.io/v1beta2". */
  readonly served: ReadonlySet<string>;
};

export type MoveFacts = {
  readonly graph: ObjectGraph;
  readonly providers: readonly KubeObject[];
  /** Owned by moved objects, of definitions without clusterctl's label. */
  readonly unlabelled: readonly ObjectOutline[];
  readonly target: TargetFacts;
  /** Saved objects are taken as they are: their source may be gone, so that nothing is finished there. */
  readonly unfinished?: "accepted";
};

export function planProblems({ graph, providers, unlabelled, target, unfinished }: MoveFacts): readonly string[] {
  return [
    ...graph.problems,
    ...graph.unresolved.map(unresolvedText),
    ...unlabelled.map(unlabelledText),
    ...classesElsewhere(graph),
    ...providers.flatMap((provider) => providerProblem(provider, target.providers)),
    ...kindProblems(graph.moved, target.served),
    ...(unfinished === undefined ? graph.moved.flatMap(({ object }) => provisioningProblem(object)) : []),
  ];
}

/** Objects that are being deleted are finished at the source, never copied. */
export function beingDeleted(graph: ObjectGraph): readonly ObjectOutline[] {
  return graph.moved.filter(({ object, kept }) => kept === undefined && isBeingDeleted(object)).map(({ object }) => object);
}

function unresolvedText({ from, reference: { kind, name, namespace, at } }: ObjectGraph["unresolved"][number]): string {
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  return `${describeObject(from)} refers to ${kind} ${place} in ${at}, which does not exist; create it, or remove the reference`;
}

function unlabelledText(object: ObjectOutline): string {
  const owner = object.metadata.ownerReferences?.[0];
  const owned = owner === undefined ? "" : ` is owned by ${owner.kind} ${owner.name} and`;
  return `${describeObject(object)}${owned} would be lost: the definition of its kind has no label clusterctl.cluster.x-k8s.io; add the label`;
}

function classesElsewhere({ moved }: ObjectGraph): readonly string[] {
  return moved.flatMap(({ object }) => {
    const namespace = fieldAt(object, "spec", "topology", "classRef", "namespace");
    if (object.kind !== "Cluster" || typeof namespace !== "string" || namespace === "" || namespace === object.metadata.namespace)
      return [];
    return [
      `${describeObject(object)} uses a ClusterClass of namespace ${namespace}; classes of other namespaces are not moved: copy the class first`,
    ];
  });
}

function providerProblem(provider: KubeObject, installed: readonly KubeObject[]): readonly string[] {
  const text = (object: KubeObject, name: string) => {
    const value = field(object, name);
    return typeof value === "string" ? value : "";
  };
  const isSame = (other: KubeObject) =>
    text(other, "type") === text(provider, "type") && text(other, "providerName") === text(provider, "providerName");
  const wanted = text(provider, "version");
  const found = installed.filter(isSame).map((other) => text(other, "version"));
  const { name } = provider.metadata;
  if (found.length === 0) return [`the target has no provider ${name}; install it there in version ${wanted} or newer`];
  const judged = found.map((version) => isAtLeast(version, wanted));
  if (judged.includes(true)) return [];
  if (judged.includes(undefined)) return [`provider ${name}: the version "${found[0]}" or "${wanted}" cannot be compared`];
  return [`provider ${name} is older in the target (${found.join(", ")}) than in the source (${wanted}); upgrade it there`];
}

function kindProblems(moved: readonly MoveNode[], served: ReadonlySet<string>): readonly string[] {
  const missing = new Map(
    moved.filter(({ kind }) => !served.has(versionText(kind.resource))).map(({ kind }) => [versionText(kind.resource), kind]),
  );
  return [...missing.values()].map(
    ({ resource }) =>
      `the target does not serve ${groupResourceOf(resource)} in version ${resource.version}; install or upgrade its provider there`,
  );
}

function provisioningProblem(object: ObjectOutline): readonly string[] {
  if (object.apiVersion.split("/")[0] !== CORE_GROUP || isBeingDeleted(object)) return [];
  if (object.kind === "Cluster") return clusterProblem(object);
  if (object.kind === "Machine" && fieldAt(object, "status", "nodeRef", "name") === undefined)
    return [`${describeObject(object)} has no node yet; wait until it has, or delete the machine`];
  return [];
}

function clusterProblem(cluster: ObjectOutline): readonly string[] {
  const isDone = (name: string) => fieldAt(cluster, "status", "initialization", name) === true;
  const what = describeObject(cluster);
  if (!isDone("infrastructureProvisioned")) return [`the infrastructure of ${what} is not provisioned yet; wait until it is`];
  const conditions = fieldAt(cluster, "status", "conditions");
  const initialized = Array.isArray(conditions) ? findCondition(conditions as never, "ControlPlaneInitialized")?.status === "True" : false;
  const hasControlPlane = fieldAt(cluster, "spec", "controlPlaneRef", "name") !== undefined;
  if (!initialized || (hasControlPlane && !isDone("controlPlaneInitialized")))
    return [`the control plane of ${what} is not initialized yet; wait until it is`];
  return [];
}
