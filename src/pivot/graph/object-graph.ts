/**
 * Which objects a move takes along, and in which order: the graph of owners, read as clusterctl reads it. Pure, and linear in the number of
 * objects and owner references.
 *
 * What clusterctl leaves behind without a message is an error here: an object whose owner is not moved would be deleted by the garbage
 * collector of the target.
 */
import { describeObject, type KubeObject } from "#kube";
import { dependantsOf, descendants, levelsOf, type Dependants, type OwnedVertex } from "./levels.ts";
import type { MoveKind } from "./move-kind.ts";
import { NameIndex, type DiscoveredObject } from "./name-index.ts";
import { JOURNAL_LABEL, MOVE_HIERARCHY_LABEL, MOVE_LABEL } from "./names.ts";
import type { ObjectOutline } from "./outline.ts";
import { referencesOf, type ObjectReference } from "./references.ts";
import { keptBecause, sharedProblem, sharingOf, type KeptBecause } from "./sharing.ts";
import { softOwnerOf } from "./soft-owners.ts";

export type MoveNode<T extends ObjectOutline = ObjectOutline> = {
  readonly uid: string;
  readonly kind: MoveKind;
  readonly object: T;
  /** The uids of its owners, by reference or by convention. */
  readonly owners: readonly string[];
  /** 0: no owners. Owners have a lower level. */
  readonly level: number;
  readonly kept?: KeptBecause;
};

/** One whose object is there as a whole, and can be copied. */
export type WholeNode = MoveNode<KubeObject>;

export type DiscoveredWorld<T extends ObjectOutline = ObjectOutline> = {
  readonly namespace: string;
  /** All objects of all kinds in the namespace, cluster-scoped ones, and Secrets of the namespaces of infrastructure providers. */
  readonly objects: readonly DiscoveredObject<T>[];
  /** ClusterClasses of the namespace ("name") that Clusters of other namespaces use. */
  readonly classesUsedElsewhere: ReadonlySet<string>;
};

export type ObjectGraph<T extends ObjectOutline = ObjectOutline> = {
  /** Sorted by level, then by kind and name. */
  readonly moved: readonly MoveNode<T>[];
  readonly left: readonly T[];
  /** References to objects that were not discovered: of other namespaces, or missing. */
  readonly unresolved: readonly { readonly from: T; readonly reference: ObjectReference }[];
  /** One sentence each: what would be lost. */
  readonly problems: readonly string[];
};

type Vertex<T extends ObjectOutline = ObjectOutline> = DiscoveredObject<T> & OwnedVertex;

export function buildGraph<T extends ObjectOutline>(world: DiscoveredWorld<T>): ObjectGraph<T> {
  const vertices = verticesOf(world);
  const dependants = dependantsOf(vertices.values());
  const names = new NameIndex(vertices.values());
  const { moved, globalRoots, unresolved } = reach({ vertices, dependants, names });
  const sharing = sharingOf({ vertices, dependants, globalRoots }, world);
  const taken = [...moved].flatMap((uid) => vertices.get(uid) ?? []);
  const { levels, cyclic } = levelsOf(taken, dependants);
  const nodes = taken.map((vertex) => nodeOf(vertex, levels.get(vertex.uid) ?? 0, keptBecause(vertex, sharing)));
  return {
    moved: nodes.toSorted(byOrder),
    left: [...vertices.values()]
      .filter((vertex) => isLeft(vertex, moved, world.namespace))
      .map(({ object }) => object)
      .toSorted(byName),
    unresolved,
    problems: [
      ...foreignOwners(nodes, { moved, vertices }),
      ...taken.flatMap((vertex) => sharedProblem(vertex, sharing)),
      ...cyclic.map((uid) => cycleText(vertices.get(uid))),
    ],
  };
}

function nodeOf<T extends ObjectOutline>(
  { uid, kind, object, hard, soft }: Vertex<T>,
  level: number,
  kept: KeptBecause | undefined,
): MoveNode<T> {
  return { uid, kind, object, owners: [...hard, ...soft], level, ...(kept === undefined ? {} : { kept }) };
}

/** Kinds first, so that a batch reads well; names make the order the same in every run. */
function byOrder(a: MoveNode, b: MoveNode): number {
  return a.level - b.level || byName(a.object, b.object);
}

function byName(a: ObjectOutline, b: ObjectOutline): number {
  return compare(a.kind, b.kind) || compare(placeOf(a), placeOf(b));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const placeOf = ({ metadata: { namespace = "", name } }: ObjectOutline) => `${namespace}/${name}`;

function verticesOf<T extends ObjectOutline>({ objects }: DiscoveredWorld<T>): ReadonlyMap<string, Vertex<T>> {
  const byName = new NameIndex(objects);
  const vertices = new Map<string, Vertex<T>>();
  for (const { kind, object } of objects) {
    const { uid = "", ownerReferences = [], labels = {} } = object.metadata;
    if (Object.hasOwn(labels, JOURNAL_LABEL)) continue;
    const owner = softOwnerOf(object);
    const soft = owner === undefined ? undefined : byName.find(owner)?.object.metadata.uid;
    const hard = [...new Set(ownerReferences.map((reference) => reference.uid))];
    vertices.set(uid, { kind, object, uid, hard, soft: soft === undefined || hard.includes(soft) ? [] : [soft] });
  }
  return vertices;
}

type Reach<T extends ObjectOutline> = {
  readonly vertices: ReadonlyMap<string, Vertex<T>>;
  readonly dependants: Dependants;
  readonly names: NameIndex<Vertex<T>>;
};

/** Everything below the roots, and what it refers to, with everything below that. */
function reach<T extends ObjectOutline>({ vertices, dependants, names }: Reach<T>) {
  const all = [...vertices.values()];
  const roots = all.filter((vertex) => ruleOf(vertex) === "hierarchy");
  const moved = descendants(uidsOf(roots), dependants);
  const globalRoots = uidsOf(roots.filter(({ kind }) => !kind.resource.namespaced));
  for (const { uid } of all.filter((vertex) => ruleOf(vertex) === "alone")) moved.add(uid);
  const unresolved: { from: T; reference: ObjectReference }[] = [];
  // a Set is iterated with what is added meanwhile
  for (const uid of moved) {
    const from = vertices.get(uid);
    if (from === undefined) continue;
    for (const reference of referencesOf(from.object)) {
      const found = resolve(from, reference, names);
      if (found === undefined) unresolved.push({ from: from.object, reference });
      else {
        for (const one of descendants([found.uid], dependants)) moved.add(one);
        if (!found.kind.resource.namespaced) globalRoots.push(found.uid);
      }
    }
  }
  return { moved, globalRoots, unresolved };
}

const uidsOf = (vertices: readonly Vertex[]) => vertices.map(({ uid }) => uid);

function resolve<T extends ObjectOutline>(
  from: Vertex<T>,
  { kind, name, namespace }: ObjectReference,
  names: NameIndex<Vertex<T>>,
): Vertex<T> | undefined {
  const group = kind === "Secret" ? "" : from.kind.resource.group;
  const own = namespace ?? from.object.metadata.namespace;
  const found = names.find({ group, kind, namespace: own, name }) ?? names.find({ group, kind, namespace: undefined, name });
  if (found !== undefined || namespace !== undefined || kind !== "Secret" || from.kind.resource.namespaced) return found;
  // a cluster-scoped identity names a Secret in the namespace of its provider
  return names.anySecret(name);
}

function ruleOf({ kind, object }: Vertex): MoveKind["rule"] {
  const { labels = {} } = object.metadata;
  if (kind.rule === "hierarchy" || Object.hasOwn(labels, MOVE_HIERARCHY_LABEL)) return "hierarchy";
  return kind.rule === "alone" || Object.hasOwn(labels, MOVE_LABEL) ? "alone" : "owned";
}

function isLeft({ uid, object }: Vertex, moved: ReadonlySet<string>, namespace: string): boolean {
  return !moved.has(uid) && object.metadata.namespace === namespace && object.metadata.name !== "kube-root-ca.crt";
}

function cycleText(vertex: Vertex | undefined): string {
  return `${vertex === undefined ? "an object" : describeObject(vertex.object)} owns itself through its owner references; remove one of them`;
}

function foreignOwners(
  nodes: readonly MoveNode[],
  { moved, vertices }: { readonly moved: ReadonlySet<string>; readonly vertices: ReadonlyMap<string, Vertex> },
): readonly string[] {
  return nodes.flatMap(({ uid, object }) => {
    const owners = (object.metadata.ownerReferences ?? []).filter((owner) => !moved.has(owner.uid));
    return owners.map(({ kind, name }) => {
      const known = (vertices.get(uid)?.hard ?? []).some((owner) => vertices.has(owner) && !moved.has(owner));
      const why = known ? "which no Cluster owns" : "which is not of a kind that is moved";
      return `${describeObject(object)} is owned by ${kind} ${name}, ${why}; remove the owner reference, or label its kind for the move`;
    });
  });
}
