/**
 * The next actions of a DaemonSet: nodes that need a Pod, Pods to delete. Pure.
 *
 * First every node gets its Pod (`planCoverage`); only then the rollout continues (`planRollout`).
 */
import type { DaemonSet, Node, Pod } from "#kube";
import { scaledValue } from "../pods/int-or-percent.ts";
import { isPodAvailable, isPodReady } from "../pods/pod-state.ts";
import { HASH_LABEL, isUpdated, oldestFirst, templateGeneration } from "./daemon-pods.ts";
import { eligibility } from "./node-eligibility.ts";

export type DaemonWorld = {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  /** By node name; finished Pods that are being deleted are excluded. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly hash: string;
  readonly now: number;
};

export type Note = { readonly type: "Normal" | "Warning"; readonly reason: string; readonly note: string };
export type DaemonPlan = {
  readonly create: readonly string[];
  readonly remove: readonly string[];
  readonly notes: readonly Note[];
  readonly failed: readonly Pod[];
};

const NOTHING: DaemonPlan = { create: [], remove: [], notes: [], failed: [] };

export function planCoverage(world: DaemonWorld): DaemonPlan {
  const perNode = world.nodes.map((node) => planNode(world, node));
  const known = new Set(world.nodes.map(({ metadata }) => metadata.name));
  const homeless = [...world.pods].flatMap(([node, pods]) => {
    return known.has(node) ? [] : pods.filter(({ spec }) => (spec.nodeName ?? "") === "").map(nameOf);
  });
  return {
    create: perNode.flatMap(({ create }) => create),
    remove: [...perNode.flatMap(({ remove }) => remove), ...homeless],
    notes: perNode.flatMap(({ notes }) => notes),
    failed: perNode.flatMap(({ failed }) => failed),
  };
}

function planNode(world: DaemonWorld, node: Node): DaemonPlan {
  const { name } = node.metadata;
  const pods = world.pods.get(name);
  const { run, stay } = eligibility(world.set, node);
  if (run && pods === undefined) return { ...NOTHING, create: [name] };
  if (pods === undefined) return NOTHING;
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!stay) return { ...NOTHING, remove: staying.map(nameOf) };
  const over = overPods(staying, name);
  const alive = staying.filter(({ status }) => status?.phase !== "Failed" && status?.phase !== "Succeeded");
  if (!allowsSurge(world.set)) return { ...over, remove: [...over.remove, ...oldestFirst(alive).slice(1).map(nameOf)] };
  return { ...over, create: alive.length === 0 && run ? [name] : [], remove: [...over.remove, ...surplus(world, alive)] };
}

/** A finished daemon Pod is replaced. Failed ones are returned separately, because they back off. */
function overPods(pods: readonly Pod[], node: string): DaemonPlan {
  const failed = pods.filter(({ status }) => status?.phase === "Failed");
  const succeeded = pods.filter(({ status }) => status?.phase === "Succeeded");
  const notes = succeeded.map(({ metadata }): Note => {
    const note = `Found succeeded daemon pod ${metadata.namespace}/${metadata.name} on node ${node}, will try to delete it`;
    return { type: "Normal", reason: "SucceededDaemonPod", note };
  });
  return { create: [], remove: succeeded.map(nameOf), notes, failed };
}

/** With surge there may be two: the oldest of the old and the oldest of the new. The old one is deleted when the new one is available. */
function surplus({ set, hash, now }: DaemonWorld, pods: readonly Pod[]): readonly string[] {
  const sorted = oldestFirst(pods);
  const isNew = ({ metadata }: Pod) => metadata.labels?.[HASH_LABEL] === hash;
  const [newest, oldest] = [sorted.find(isNew), sorted.find((pod) => !isNew(pod))];
  const extra = sorted.filter((pod) => pod !== newest && pod !== oldest).map(nameOf);
  if (newest === undefined || oldest === undefined) return extra;
  const mayGo = !isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, now);
  return mayGo ? [...extra, oldest.metadata.name] : extra;
}

export function planRollout(world: DaemonWorld): DaemonPlan {
  const desired = world.nodes.filter((node) => eligibility(world.set, node).run).map(({ metadata }) => metadata.name);
  const { maxSurge = 0, maxUnavailable = 0 } = world.set.spec.updateStrategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, desired.length, "up");
  const unavailable = scaledValue(maxUnavailable, desired.length, "up");
  const names = new Set([...world.pods.keys(), ...desired]);
  const pairs = [...names].map((node) => pairOn(world, node));
  if (surge > 0) return rollWithSurge(world, pairs, { surge, desired: desired.length });
  return rollInPlace(world, pairs, Math.max(unavailable, desired.length > 0 ? 1 : 0));
}

type Pair = {
  readonly node: string;
  readonly newPod?: Pod;
  readonly oldPod?: Pod;
  /** Two of the same generation. */ readonly crowded: boolean;
};

function pairOn({ set, pods, hash }: DaemonWorld, node: string): Pair {
  const staying = (pods.get(node) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const generation = templateGeneration(set);
  const [newPod, ...moreNew] = staying.filter((pod) => isUpdated(pod, hash, generation));
  const [oldPod, ...moreOld] = staying.filter((pod) => !isUpdated(pod, hash, generation));
  const crowded = moreNew.length + moreOld.length > 0;
  return { node, crowded, ...(newPod === undefined ? {} : { newPod }), ...(oldPod === undefined ? {} : { oldPod }) };
}

/** Old Pods that are unavailable are deleted at once; of the others as many as maxUnavailable allows. */
function rollInPlace({ set, now }: DaemonWorld, pairs: readonly Pair[], limit: number): DaemonPlan {
  const available = (pod: Pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const isUp = ({ newPod, oldPod, crowded }: Pair) => {
    const only = newPod === undefined ? oldPod : oldPod === undefined ? newPod : undefined;
    return !crowded && only !== undefined && available(only);
  };
  const down = pairs.filter((pair) => !isUp(pair));
  const onlyOld = pairs.flatMap(({ newPod, oldPod, crowded }) => (crowded || newPod !== undefined ? [] : (oldPod ?? [])));
  const useless = onlyOld.filter((pod) => !available(pod));
  const candidates = onlyOld.filter(available).slice(0, Math.max(0, limit - down.length));
  return { ...NOTHING, remove: [...useless, ...candidates].map(nameOf) };
}

function rollWithSurge(world: DaemonWorld, pairs: readonly Pair[], { surge, desired }: { surge: number; desired: number }): DaemonPlan {
  const available = (pod: Pod | undefined) => pod !== undefined && isPodAvailable(pod, world.set.spec.minReadySeconds ?? 0, world.now);
  const running = new Set(world.nodes.filter((node) => eligibility(world.set, node).run).map(({ metadata }) => metadata.name));
  const mayRun = (name: string) => running.has(name);
  const plain = pairs.filter(({ crowded }) => !crowded);
  const both = plain.filter(({ newPod, oldPod }) => newPod !== undefined && oldPod !== undefined);
  const onlyOld = plain.filter(({ newPod, oldPod }) => newPod === undefined && oldPod !== undefined);
  const surging = pairs.length - plain.length + both.filter(({ newPod }) => !available(newPod)).length;
  const replaced = both.filter(({ newPod }) => available(newPod));
  const leaving = onlyOld.filter(({ node }) => !mayRun(node));
  const numAvailable = plain.filter(({ oldPod, newPod }) => available(oldPod ?? newPod)).length;
  const deletable = leaving.filter(({ oldPod }) => available(oldPod)).slice(0, Math.max(0, numAvailable - desired));
  const useless = leaving.filter(({ oldPod }) => !available(oldPod));
  const candidates = onlyOld.filter(({ node }) => mayRun(node));
  const atOnce = candidates.filter(({ oldPod }) => !available(oldPod));
  const later = candidates.filter(({ oldPod }) => available(oldPod)).slice(0, Math.max(0, surge - surging));
  const remove = [...replaced, ...useless, ...deletable].flatMap(({ oldPod }) => (oldPod === undefined ? [] : [oldPod.metadata.name]));
  return { ...NOTHING, create: [...atOnce, ...later].map(({ node }) => node), remove };
}

function allowsSurge({ spec }: DaemonSet): boolean {
  return spec.updateStrategy?.type !== "OnDelete" && scaledValue(spec.updateStrategy?.rollingUpdate?.maxSurge, 1, "up") > 0;
}

function nameOf({ metadata }: Pod): string {
  return metadata.name;
}
