/** DaemonSets: one Pod on every eligible node. */
import { ok, type Result } from "#base";
import type { Informer, WorkQueue } from "#controller-runtime";
import {
  controllerRevisions,
  daemonSets,
  jsonEqual,
  keyOf,
  keyText,
  nodes as nodeResource,
  parseKey,
  pods as podResource,
  requirementsOf,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
} from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { claim } from "../pods/claim.ts";
import { Expectations } from "../pods/expectations.ts";
import { childHandler } from "../pods/follow-children.ts";
import { controllerOf, indexByController, ownedOrOrphaned } from "../pods/owners.ts";
import { isNamespaceEnding, podControl, type PodControl } from "../pods/pod-control.ts";
import { podLimitOf } from "../pods/pod-limit.ts";
import { isPodOver, nextAvailability } from "../pods/pod-state.ts";
import { slowStart } from "../pods/slow-start.ts";
import { updateStatus } from "../pods/status-update.ts";
import { FailedPodBackoff } from "./failed-pods.ts";
import { syncHistory, truncateHistory } from "./daemon-history.ts";
import { planCoverage, planRollout, type DaemonPlan, type DaemonWorld } from "./daemon-plan.ts";
import { targetNode, templateFor } from "./daemon-pods.ts";
import { daemonStatus } from "./daemon-status.ts";

const BURST = 250;

type Work = {
  readonly context: KubeControllerContext;
  readonly sets: Informer<DaemonSet>;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly revisions: Informer<ControllerRevision>;
  readonly control: PodControl;
  readonly expectations: Expectations;
  readonly backoff: FailedPodBackoff;
};

export const daemonSetController: KubeController = {
  name: "daemonset-controller",
  start(context) {
    const { informers, clock } = context;
    const work: Work = {
      context,
      sets: informers.of(daemonSets),
      pods: indexByController(informers.of(podResource)),
      nodes: informers.of(nodeResource),
      revisions: indexByController(informers.of(controllerRevisions)),
      control: podControl({ ...context, limit: podLimitOf(context) }),
      expectations: new Expectations(clock),
      backoff: new FailedPodBackoff(clock),
    };
    subscribe(work, context.work({ name: "daemonset", pass: (key) => pass(work, key), concurrency: 2 }));
  },
};

function subscribe({ context, sets, expectations }: Work, queue: WorkQueue): void {
  const { informers } = context;
  const enqueue = (key: string) => queue.add(key);
  informers.subscribe(daemonSets, ({ key, before, after }) => {
    if (before !== undefined && after?.metadata.uid !== before.metadata.uid) expectations.forget(keyText(key));
    enqueue(keyText(key));
  });
  const selectorOf = ({ spec }: DaemonSet) => requirementsOf(spec.selector);
  const following = { owners: sets, ownerResource: daemonSets, selectorOf, enqueue };
  informers.subscribe(podResource, childHandler<DaemonSet, Pod>({ ...following, expectations }));
  const onRevision = childHandler<DaemonSet, ControllerRevision>(following);
  informers.subscribe(controllerRevisions, (change) => {
    const { before, after } = change;
    // a new revision that has an owner triggers no pass, as in Kubernetes: usually the set has just created it
    const isOwnedAndNew = before === undefined && after !== undefined && controllerOf(after) !== undefined;
    if (!isOwnedAndNew || after.metadata.deletionTimestamp !== undefined) onRevision(change);
  });
  informers.subscribe(nodeResource, ({ before, after }) => {
    if (before !== undefined && after !== undefined && !concernsDaemons(before, after)) return;
    for (const set of sets.list()) enqueue(keyText(keyOf(set)));
  });
}

/** Ignores heartbeats. */
function concernsDaemons(before: Node, after: Node): boolean {
  return !jsonEqual(before.metadata.labels, after.metadata.labels) || !jsonEqual(before.spec?.taints ?? [], after.spec?.taints ?? []);
}

async function pass(work: Work, key: string): Promise<Pass> {
  const { context, expectations } = work;
  const set = work.sets.get(parseKey(key));
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) {
    expectations.forget(key);
    return done;
  }
  if (jsonEqual(set.spec.selector, {})) {
    const note = "This daemon set is selecting all pods. A non-empty selector is required.";
    context.record({ regarding: set, type: "Warning", reason: "SelectingAll", note });
    return done;
  }
  // before the Pods are read: events during the pass are not in its list
  const mayAct = expectations.satisfied(key);
  const claimed = await claimAll(work, set);
  if (!claimed.ok) return passOf(claimed);
  const history = await syncHistory(context.client, set, claimed.value);
  if (!history.ok) return passOf(history);
  const world = worldOf(work, set, claimed.value.pods, history.value.hash);
  const acted = mayAct ? await act(work, key, world) : ok(undefined);
  const truncated = acted.ok && mayAct ? await truncateHistory(context.client, set, history.value.old, claimed.value.pods) : acted;
  const written = await updateStatus(context.client, daemonSets, set, daemonStatus(world, mayAct));
  if (!truncated.ok) return passOf(truncated);
  return written.ok ? nextCheck(work, world) : passOf(written);
}

async function claimAll({ context: { client }, pods, revisions }: Work, set: DaemonSet) {
  const claimant = { client, owner: set, ownerResource: daemonSets, selector: requirementsOf(set.spec.selector) };
  const own = await claim({ ...claimant, resource: podResource }, ownedOrOrphaned(pods, set));
  if (!own.ok) return own;
  const known = await claim({ ...claimant, resource: controllerRevisions }, ownedOrOrphaned(revisions, set));
  return known.ok ? ok({ pods: own.value, known: known.value }) : known;
}

function worldOf({ context, nodes }: Work, set: DaemonSet, pods: readonly Pod[], hash: string): DaemonWorld {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (node === undefined || (isPodOver(pod) && pod.metadata.deletionTimestamp !== undefined)) continue;
    const known = byNode.get(node);
    if (known === undefined) byNode.set(node, [pod]);
    else known.push(pod);
  }
  const sorted = nodes.list().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return { set, nodes: sorted, pods: byNode, hash, now: context.clock.now() };
}

/** The rollout continues only when every node has its Pod: otherwise this pass ends here. */
async function act(work: Work, key: string, world: DaemonWorld): Promise<Result<void, KubeError>> {
  const coverage = withFailed(work, world, planCoverage(world));
  const isCovered = coverage.create.length + coverage.remove.length === 0;
  const rolls = world.set.spec.updateStrategy?.type !== "OnDelete";
  return perform(work, key, world, isCovered && rolls ? planRollout(world) : coverage);
}

/** Failed Pods are replaced, with a growing back-off per node. */
function withFailed({ backoff }: Work, { set }: DaemonWorld, plan: DaemonPlan): DaemonPlan {
  const due = plan.failed.filter((pod) => backoff.mayReplace(set, targetNode(pod) ?? ""));
  const notes = due.map((pod) => {
    const { namespace, name } = pod.metadata;
    const note = `Found failed daemon pod ${namespace}/${name} on node ${targetNode(pod)}, will try to kill it`;
    return { type: "Warning", reason: "FailedDaemonPod", note } as const;
  });
  return { ...plan, remove: [...plan.remove, ...due.map(({ metadata }) => metadata.name)], notes: [...plan.notes, ...notes] };
}

async function perform(
  { context, control, expectations }: Work,
  key: string,
  { set, hash }: DaemonWorld,
  plan: DaemonPlan,
): Promise<Result<void, KubeError>> {
  for (const note of plan.notes) context.record({ regarding: set, ...note });
  const [create, remove] = [plan.create.slice(0, BURST), plan.remove.slice(0, BURST)];
  const owner = { object: set, resource: daemonSets };
  const { namespace } = set.metadata;
  expectations.expectCreations(key, create.length);
  const podKey = (name: string) => keyText({ namespace, name });
  expectations.expectDeletions(key, remove.map(podKey));
  const { missing, error } = await slowStart(create.length, async (index) => {
    const created = await control.create(owner, templateFor(set, create[index] ?? "", hash));
    if (created.ok || !isNamespaceEnding(created.error)) return created;
    expectations.created(key);
    return ok(undefined);
  });
  if (missing > 0) expectations.created(key, missing);
  const removed = await Promise.all(
    remove.map(async (name) => {
      const answer = await control.remove(owner, name);
      if (!answer.ok) expectations.deleted(key, podKey(name));
      return answer;
    }),
  );
  if (error !== undefined) return { ok: false, error };
  return removed.find((answer) => !answer.ok && answer.error.kind !== "not-found") ?? ok(undefined);
}

function nextCheck({ backoff }: Work, { set, pods, now }: DaemonWorld): Pass {
  const waits = [nextAvailability([...pods.values()].flat(), set.spec.minReadySeconds ?? 0, now), backoff.waitMs(set)];
  const soonest = Math.min(...waits.flatMap((wait) => wait ?? []));
  return soonest === Infinity ? done : again(soonest);
}
