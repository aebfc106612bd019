/**
 * One pass over the Pods of a StatefulSet: create and repair from the lowest ordinal, delete surplus ones and update from the highest.
 *
 * `OrderedReady` stops at the first Pod that is not ready; `Parallel` creates up to 500 Pods per pass. Every pass returns a status.
 */
import { ok, type Result } from "#base";
import type { Pod, StatefulSet, StatefulSetStatus } from "#kube";
import type { KubeError } from "#kube-client";
import { isPodOver } from "../pods/pod-state.ts";
import { slowStart } from "../pods/slow-start.ts";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import { templateIn } from "../revisions/history.ts";
import { hasIdentity, hasStorage, newPod, podRevision, startOrdinal } from "./identity.ts";
import { slotsOf, sortPods, updateCandidates, type Slot } from "./ordinals.ts";
import type { PodKeeper } from "./pod-keeper.ts";
import type { SetRevisions } from "./set-revisions.ts";
import { isAvailable, isRunningAndReady, isTerminating, setStatus } from "./set-status.ts";

export type SetPass = {
  readonly keeper: PodKeeper;
  readonly set: StatefulSet;
  readonly revisions: SetRevisions;
  readonly pods: readonly Pod[];
  readonly now: number;
};

export type SetOutcome = { readonly status: StatefulSetStatus; readonly result: Result<void, KubeError> };

/** Whether the iteration over the Pods continues. */
type Walk = Result<"stop" | "on", KubeError>;
const ON: Walk = ok("on");
const STOP: Walk = ok("stop");

/** Limit of Pods that one pass creates: their watch events trigger the next pass. */
const BURST = 500;

export async function updateSet(pass: SetPass): Promise<SetOutcome> {
  const { set, pods } = pass;
  if (set.metadata.deletionTimestamp !== undefined) return outcome(pass, pods, ON);
  const { present, condemned } = sortPods(set, pods);
  const all = [...present, ...condemned];
  const slots = slotsOf(set, present, isOrdered(pass) ? 1 : BURST);
  const isWhole = present.length === replicasOf(set) && !present.some((pod) => isUnavailable(pass, pod));
  // a missing or unavailable Pod is handled before every surplus one
  const firstUnhealthy = isWhole ? condemned.findLast((pod) => isUnavailable(pass, pod)) : undefined;
  const walks = [
    () => walk(pass, slots, (slot) => keep(pass, slot)),
    () => walk(pass, condemned, (pod) => releaseClaims(pass, pod)),
    () => walk(pass, condemned, (pod) => condemn(pass, pod, firstUnhealthy)),
  ];
  for (const next of walks) {
    const walked = await next();
    if (!walked.ok || walked.value === "stop") return outcome(pass, all, walked);
  }
  return set.spec.updateStrategy?.type === "OnDelete" ? outcome(pass, all, ON) : rollOn(pass, present, all);
}

function outcome({ set, revisions, now }: SetPass, pods: readonly Pod[], walked: Walk, deleted = 0): SetOutcome {
  const names = { current: revisions.current.metadata.name, update: revisions.update.metadata.name, collisions: revisions.collisions };
  return { status: setStatus(set, pods, { revisions: names, now, deleted }), result: walked.ok ? ok(undefined) : walked };
}

function plannedPod({ set, revisions }: SetPass, ordinal: number): Pod {
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const revision = ordinal < startOrdinal(set) + partition ? revisions.current : revisions.update;
  return newPod(set, templateIn(revision) ?? set.spec.template, ordinal, revision.metadata.name);
}

function isOrdered({ set }: SetPass): boolean {
  return set.spec.podManagementPolicy !== "Parallel";
}

async function walk<T extends Slot>(pass: SetPass, slots: readonly T[], visit: (slot: T) => Promise<Walk>): Promise<Walk> {
  if (!isOrdered(pass)) {
    const { error } = await slowStart(slots.length, async (index) => {
      const slot = slots[index];
      return slot === undefined ? ON : visit(slot);
    });
    return error === undefined ? ON : { ok: false, error };
  }
  for (const slot of slots) {
    const walked = await visit(slot);
    if (!walked.ok || walked.value === "stop") return walked;
  }
  return ON;
}

async function createMissing(pass: SetPass, ordinal: number): Promise<Walk> {
  const { keeper, set } = pass;
  const pod = plannedPod(pass, ordinal);
  return keeper.waitsForClaims(set, pod) ? STOP : then(await keeper.create(set, pod), isOrdered(pass) ? STOP : ON);
}

async function keep(pass: SetPass, slot: Slot): Promise<Walk> {
  if (typeof slot === "number") return createMissing(pass, slot);
  const pod = slot;
  const { keeper, set, now } = pass;
  if (isPodOver(pod)) return isTerminating(pod) ? STOP : then(await keeper.remove(set, pod), STOP);
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

/** With OrderedReady, a Pod is deleted only when the others are healthy; an unhealthy Pod may itself be deleted. */
async function condemn(pass: SetPass, pod: Pod, firstUnhealthy: Pod | undefined): Promise<Walk> {
  const { keeper, set, now } = pass;
  if (isTerminating(pod)) return isOrdered(pass) ? STOP : ON;
  const isWell = isRunningAndReady(pod) && isAvailable(set, pod, now);
  if (isOrdered(pass) && !isWell && pod !== firstUnhealthy) return STOP;
  return then(await keeper.remove(set, pod), STOP);
}

/** From the highest ordinal down to the partition: one Pod at a time, and the next only when it is ready again. */
async function rollOn(pass: SetPass, present: readonly Pod[], all: readonly Pod[]): Promise<SetOutcome> {
  const { keeper, set, revisions } = pass;
  for (const pod of updateCandidates(set, present)) {
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
