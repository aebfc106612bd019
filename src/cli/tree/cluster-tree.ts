/**
 * The hierarchy of clusters, from what each of them says about itself and its children. Pure.
 *
 * A child is below the cell that has its LatticeCluster. Where that cell does not answer, the list of a local fleet has the parent. Two cells may have a
 * LatticeCluster of one name while a cluster changes its parent: the first one counts, so that a cluster is shown once.
 */
import type { LatticeCluster } from "#crds";
import { findCondition } from "#kube";

/** A cluster whose API server was asked. */
export type AskedCluster =
  | { readonly name: string; readonly parent?: string | undefined; readonly answers: true; readonly clusters: readonly LatticeCluster[] }
  | { readonly name: string; readonly parent?: string | undefined; readonly answers: false; readonly why: string };

export type AgentState = "connected" | "disconnected" | "none" | "unknown";

export type TreeNode = {
  readonly name: string;
  /** Empty: not known. */
  readonly phase: string;
  readonly ready: boolean;
  /** `self`, or the name of a cell; absent: not known. */
  readonly ownedBy?: string | undefined;
  readonly agent: AgentState;
  readonly readyNodes?: number | undefined;
  readonly totalNodes?: number | undefined;
  readonly kubernetesVersion?: string | undefined;
  /** Whether its API server answers; absent: it was not asked. */
  readonly answers?: boolean | undefined;
  /** One sentence. */
  readonly health: string;
  /** Clusters below it that are left out. */
  readonly hidden: number;
  readonly children: readonly TreeNode[];
};

export type TreeOptions = {
  /** The cluster at the top; absent: all that have no parent. */
  readonly root?: string | undefined;
  /** Levels below the top. */
  readonly depth?: number | undefined;
};

export function treeOf(observed: readonly AskedCluster[], { root, depth = Infinity }: TreeOptions): readonly TreeNode[] {
  const world = worldOf(observed);
  const tops = root === undefined ? [...world.views.keys()].filter((name) => !world.parents.has(name)) : [root];
  const shown = new Set<string>();
  const trees = tops.map((name) => nodeOf(world, { name, depth, shown }));
  // clusters whose parents form a circle have no top
  const others = root === undefined ? [...world.views.keys()].filter((name) => !shown.has(name)) : [];
  return [...trees, ...others.flatMap((name) => (shown.has(name) ? [] : [nodeOf(world, { name, depth, shown })]))];
}

/** What is known of a cluster, from itself and from its parent. */
type ClusterViews = {
  readonly observed?: AskedCluster | undefined;
  readonly own?: LatticeCluster | undefined;
  readonly atParent?: LatticeCluster | undefined;
};

type World = {
  readonly views: ReadonlyMap<string, ClusterViews>;
  readonly parents: ReadonlyMap<string, string>;
  readonly children: ReadonlyMap<string, readonly string[]>;
};

function worldOf(observed: readonly AskedCluster[]): World {
  const views = new Map<string, ClusterViews>();
  const parents = new Map<string, string>();
  for (const one of observed) {
    views.set(one.name, { ...views.get(one.name), observed: one });
    for (const cluster of one.answers ? one.clusters : []) {
      const { name } = cluster.metadata;
      const known = views.get(name);
      if (name === one.name) views.set(name, { ...known, own: cluster });
      else if (!parents.has(name)) {
        parents.set(name, one.name);
        views.set(name, { ...known, atParent: cluster });
      }
    }
  }
  for (const { name, parent } of observed)
    if (parent !== undefined && parent !== name && !parents.has(name) && views.has(parent)) parents.set(name, parent);
  const children = Map.groupBy([...parents.keys()].toSorted(byName), (name) => parents.get(name) ?? "");
  return { views, parents, children };
}

function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

type Place = { readonly name: string; readonly depth: number; readonly shown: Set<string> };

function nodeOf(world: World, { name, depth, shown }: Place): TreeNode {
  shown.add(name);
  const below = (world.children.get(name) ?? []).filter((child) => !shown.has(child));
  const children = depth > 0 ? below.map((child) => nodeOf(world, { name: child, depth: depth - 1, shown })) : [];
  const hidden = depth > 0 ? 0 : countBelow(world, name, shown);
  return { name, ...stateOf(world.views.get(name) ?? {}), hidden, children };
}

/** Marks them as shown: the line of their ancestor has the count. */
function countBelow(world: World, name: string, shown: Set<string>): number {
  let count = 0;
  for (const child of world.children.get(name) ?? []) {
    if (shown.has(child)) continue;
    shown.add(child);
    count += 1 + countBelow(world, child, shown);
  }
  return count;
}

type NodeState = Omit<TreeNode, "name" | "hidden" | "children">;

/** The parent's view of a child has its agent, and counts while the parent owns it or deletes it. A cluster that owns itself knows the rest best. */
function stateOf({ observed, own, atParent }: ClusterViews): NodeState {
  const cluster = own?.status?.ownedBy === "self" && !isTakenBack(atParent) ? own : (atParent ?? own);
  const status = cluster?.status;
  const answers = observed?.answers;
  const ready = findCondition(status?.conditions, "Ready");
  const isReady = status?.phase === "Ready" && ready?.status === "True" && answers !== false;
  return {
    phase: status?.phase ?? "",
    ready: isReady,
    ownedBy: own?.status?.ownedBy ?? atParent?.status?.ownedBy,
    agent: agentOf(atParent, own),
    readyNodes: status?.readyNodes,
    totalNodes: status?.totalNodes,
    kubernetesVersion: status?.kubernetesVersion,
    answers,
    health: healthOf({ observed, cluster, isReady }),
  };
}

function isTakenBack(atParent: LatticeCluster | undefined): boolean {
  return atParent?.metadata.deletionTimestamp !== undefined || atParent?.status?.phase === "Pivoting";
}

function agentOf(atParent: LatticeCluster | undefined, own: LatticeCluster | undefined): AgentState {
  const condition = findCondition((atParent ?? own)?.status?.conditions, "AgentConnected");
  if (condition === undefined) return "unknown";
  if (condition.reason === "NoParent") return "none";
  return condition.status === "True" ? "connected" : "disconnected";
}

type Health = { readonly observed: AskedCluster | undefined; readonly cluster: LatticeCluster | undefined; readonly isReady: boolean };

function healthOf({ observed, cluster, isReady }: Health): string {
  if (observed?.answers === false) return `does not answer: ${observed.why}`;
  if (cluster === undefined) return "has no LatticeCluster of its own";
  const { status, metadata } = cluster;
  const message = (status?.message ?? findCondition(status?.conditions, "Ready")?.message ?? "").split("\n")[0] ?? "";
  if (isReady) return "healthy";
  if (metadata.deletionTimestamp !== undefined && message === "") return "is being deleted";
  if (status === undefined) return "no status yet; is the operator of its parent running?";
  const pivot = status.phase === "Pivoting" || status.phase === "Unpivoting" ? pivotText(status.pivot) : "";
  return pivot === "" ? message : pivot;
}

type StepText = (objects: string) => string;
const changingOwner: StepText = (objects) => `changing the owner of ${objects}`;
const removing: StepText = (objects) => `removing ${objects} from the former owner`;

/** Steps of a move after the objects are copied. */
const MOVING: ReadonlyMap<string, StepText> = new Map([
  ["verify", (objects) => `comparing ${objects}`],
  ["announce-commit", changingOwner],
  ["commit", changingOwner],
  ["note-commit", changingOwner],
  ["resume-target", removing],
  ["delete-source", removing],
  ["finish", removing],
]);

/** Of a move that is under way; empty: none is. */
function pivotText(pivot: NonNullable<LatticeCluster["status"]>["pivot"]): string {
  if (pivot?.step === undefined || pivot.finishedAt !== undefined) return "";
  const { step, moved = 0, total } = pivot;
  if (step === "pause" || step === "transfer") return total === undefined ? "copying" : `copying ${moved} of ${total} objects`;
  return MOVING.get(step)?.(total === undefined ? "the objects" : `${total} objects`) ?? "preparing the move";
}
