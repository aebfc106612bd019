/**
 * One pass over the Pods of a StatefulSet: create and mend from the lowest ordinal, condemn from the highest, update from the highest.
 *
 * `OrderedReady` stops at the first Pod that is not ready; `Parallel` does everything at once. Whatever happened, a status comes out.
 */
import { ok, type Result } from "#base";
import type { KubeError } from "#kube-client";
import type { StatefulSet, StatefulSetStatus } from "../kinds/apps.ts";
import type { Pod, PodTemplate } from "../kinds/pod.ts";
import { isPodOver } from "../pods/pod-state.ts";
import { slowStart } from "../pods/slow-start.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { templateIn } from "../revisions/history.ts";
import { hasIdentity, hasStorage, isInRange, newPod, ordinalOf, podRevision, startOrdinal } from "./identity.ts";
import type { PodKeeper } from "./pod-keeper.ts";
import type { SetRevisions } from "./set-revisions.ts";
import { isAvailable, isCreated, isRunningAndReady, isTerminating, setStatus } from "./set-status.ts";

export type SetPass = {
  readonly keeper: PodKeeper;
  readonly set: StatefulSet;
  readonly revisions: SetRevisions;
  readonly pods: readonly Pod[];
  readonly now: number;
};

export type SetOutcome = { readonly status: StatefulSetStatus; readonly result: Result<void, KubeError> };

/** Whether the walk over the Pods goes on. */
type Walk = Result<"stop" | "on", KubeError>;
const ON: Walk = ok("on");
const STOP: Walk = ok("stop");

export async function updateSet(pass: SetPass): Promise<SetOutcome> {
  const { set, pods } = pass;
  if (set.metadata.deletionTimestamp !== undefined) return outcome(pass, pods, ON);
  const replicas = desiredPods(pass);
  const condemned = pods
    .filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, ordinalOf(pod)))
    .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
  const all = [...replicas, ...condemned];
  const firstUnhealthy = [...replicas, ...condemned.toReversed()].find((pod) => isUnavailable(pass, pod));
  const walks = [
    () => walk(pass, replicas, (pod) => keep(pass, pod)),
    () => walk(pass, condemned, (pod) => releaseClaims(pass, pod)),
    () => walk(pass, condemned, (pod) => condemn(pass, pod, firstUnhealthy)),
  ];
  for (const next of walks) {
    const walked = await next();
    if (!walked.ok || walked.value === "stop") return outcome(pass, all, walked);
  }
  return set.spec.updateStrategy?.type === "OnDelete" ? outcome(pass, all, ON) : rollOn(pass, replicas, all);
}

function outcome({ set, revisions, now }: SetPass, pods: readonly Pod[], walked: Walk, deleted = 0): SetOutcome {
  const names = { current: revisions.current.metadata.name, update: revisions.update.metadata.name, collisions: revisions.collisions };
  return { status: setStatus(set, pods, { revisions: names, now, deleted }), result: walked.ok ? ok(undefined) : walked };
}

/** One per ordinal: the Pod that is there, or the one that is to be made. */
function desiredPods({ set, revisions, pods }: SetPass): readonly Pod[] {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const from = startOrdinal(set);
  return Array.from({ length: replicasOf(set) }, (_, index) => {
    const ordinal = from + index;
    const revision = ordinal < from + partition ? revisions.current : revisions.update;
    const template: PodTemplate = templateIn(revision) ?? set.spec.template;
    return byOrdinal.get(ordinal) ?? newPod(set, template, ordinal, revision.metadata.name);
  });
}

function isOrdered({ set }: SetPass): boolean {
  return set.spec.podManagementPolicy !== "Parallel";
}

async function walk(pass: SetPass, pods: readonly Pod[], visit: (pod: Pod) => Promise<Walk>): Promise<Walk> {
  if (!isOrdered(pass)) {
    const { error } = await slowStart(pods.length, async (index) => {
      const pod = pods[index];
      return pod === undefined ? ON : visit(pod);
    });
    return error === undefined ? ON : { ok: false, error };
  }
  for (const pod of pods) {
    const walked = await visit(pod);
    if (!walked.ok || walked.value === "stop") return walked;
  }
  return ON;
}

async function keep(pass: SetPass, pod: Pod): Promise<Walk> {
  const { keeper, set, now } = pass;
  const stopIfOrdered = isOrdered(pass) ? STOP : ON;
  if (isPodOver(pod)) return isTerminating(pod) ? STOP : then(await keeper.remove(set, pod), STOP);
  if (!isCreated(pod)) return keeper.waitsForClaims(set, pod) ? STOP : then(await keeper.create(set, pod), stopIfOrdered);
  if (pod.status?.phase === "Pending") {
    const claimed = await keeper.createMissingClaims(set, pod);
    if (!claimed.ok) return claimed;
  }
  if (isOrdered(pass) && (isTerminating(pod) || !isRunningAndReady(pod) || !isAvailable(set, pod, now))) return STOP;
  const right = hasIdentity(set, pod) && hasStorage(set, pod) && keeper.claimOwnersAreRight(set, pod);
  return right ? ON : then(await keeper.mend(set, pod), ON);
}

async function releaseClaims({ keeper, set }: SetPass, pod: Pod): Promise<Walk> {
  return keeper.claimOwnersAreRight(set, pod) ? ON : then(await keeper.setClaimOwners(set, pod), ON);
}

/** In order, a Pod goes only when the others are well; the one that is not well may go itself. */
async function condemn(pass: SetPass, pod: Pod, firstUnhealthy: Pod | undefined): Promise<Walk> {
  const { keeper, set, now } = pass;
  if (isTerminating(pod)) return isOrdered(pass) ? STOP : ON;
  const isWell = isRunningAndReady(pod) && isAvailable(set, pod, now);
  if (isOrdered(pass) && !isWell && pod !== firstUnhealthy) return STOP;
  return then(await keeper.remove(set, pod), STOP);
}

/** From the highest ordinal down to the partition: one Pod at a time, and the next only when it is back. */
async function rollOn(pass: SetPass, replicas: readonly Pod[], all: readonly Pod[]): Promise<SetOutcome> {
  const { keeper, set, revisions } = pass;
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  for (const pod of replicas.slice(partition).toReversed()) {
    if (podRevision(pod) !== revisions.update.metadata.name && !isTerminating(pod)) {
      const removed = await keeper.remove(set, pod);
      return outcome(pass, all, then(removed, ON), removed.ok ? 1 : 0);
    }
    if (isUnavailable(pass, pod)) break;
  }
  return outcome(pass, all, ON);
}

function isUnavailable({ set, now }: SetPass, pod: Pod): boolean {
  return !isAvailable(set, pod, now) || isTerminating(pod);
}

function then(answer: Result<void, KubeError>, walked: Walk): Walk {
  return answer.ok ? walked : answer;
}
