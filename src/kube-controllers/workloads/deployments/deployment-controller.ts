/**
 * Deployments: one ReplicaSet per template, and the rollout from one to the next.
 *
 * A pass does one thing: it scales up, or down, or writes the status. The watch event of its write triggers the
 * next pass, so a rollout is many small passes and can be interrupted anywhere.
 */
import { ok, timestamp, type Result } from "#base";
import type { Informer } from "#controller-runtime";
import {
  deployments as deploymentResource,
  jsonEqual,
  keyOf,
  keyText,
  parseKey,
  pods as podResource,
  replicaSets,
  requirementsOf,
  type Deployment,
  type DeploymentStatus,
  type Pod,
  type ReplicaSet,
} from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { claim } from "../pods/claim.ts";
import { childHandler } from "../pods/follow-children.ts";
import { indexByController, ownedBy, ownedOrOrphaned, resolveController } from "../pods/owners.ts";
import { isPodOver } from "../pods/pod-state.ts";
import { updateStatus } from "../pods/status-update.ts";
import { conditionOf, REASONS, withCondition } from "./conditions.ts";
import { deploymentWork, rolloutTimeOf, type DeploymentWork } from "./deployment-work.ts";
import { activeSets, isRolling, progressDeadlineMs } from "./limits.ts";
import { rolloutOf, syncRevision } from "./new-set.ts";
import { rollbackTarget, rollBack } from "./rollback.ts";
import { deadlineWaitMs, deploymentStatus, isComplete, rolloutStatus, type Rollout } from "./rollout-status.ts";
import { isScalingEvent, planNewSet, planOldSets, planScaling } from "./scale-plan.ts";
import { cleanUp, performSteps } from "./scale-sets.ts";

type Caches = { readonly deployments: Informer<Deployment>; readonly sets: Informer<ReplicaSet>; readonly pods: Informer<Pod> };

export const deploymentController: KubeController = {
  name: "deployment-controller",
  start(context) {
    const { informers } = context;
    const caches: Caches = {
      deployments: informers.of(deploymentResource),
      sets: indexByController(informers.of(replicaSets)),
      pods: indexByController(informers.of(podResource)),
    };
    const work = deploymentWork(context);
    const queue = context.work({ name: "deployment", pass: (key) => pass(work, caches, key) });
    const enqueue = (key: string) => queue.add(key);
    informers.subscribe(deploymentResource, ({ key }) => enqueue(keyText(key)));
    const owners = caches.deployments;
    const selectorOf = ({ spec }: Deployment) => requirementsOf(spec.selector);
    informers.subscribe(
      replicaSets,
      childHandler<Deployment, ReplicaSet>({ owners, ownerResource: deploymentResource, selectorOf, enqueue }),
    );
    informers.subscribe(podResource, ({ before, after }) => {
      if (before !== undefined && after === undefined) enqueueRecreating(caches, before, enqueue);
    });
  },
};

/** Recreate waits for the last old Pod, whose deletion changes no ReplicaSet. */
function enqueueRecreating({ deployments, sets }: Caches, pod: Pod, enqueue: (key: string) => void): void {
  const set = resolveController(sets, replicaSets, pod);
  const deployment = set === undefined ? undefined : resolveController(deployments, deploymentResource, set);
  if (deployment !== undefined && !isRolling(deployment)) enqueue(keyText(keyOf(deployment)));
}

async function pass(work: DeploymentWork, caches: Caches, key: string): Promise<Pass> {
  const deployment = caches.deployments.get(parseKey(key));
  if (deployment === undefined) return done;
  if (jsonEqual(deployment.spec.selector, {})) return refuseToSelectAll(work, deployment);
  const selector = requirementsOf(deployment.spec.selector);
  const { client } = work;
  const claimant = { client, owner: deployment, ownerResource: deploymentResource, resource: replicaSets, selector };
  const sets = await claim(claimant, ownedOrOrphaned(caches.sets, deployment));
  if (!sets.ok) return passOf(sets);
  const rollout = rolloutOf(deployment, sets.value);
  if (deployment.metadata.deletionTimestamp !== undefined) return write(work, rollout, deploymentStatus(rollout, rolloutTimeOf(work)));
  return roll(work, caches, rollout);
}

async function refuseToSelectAll(work: DeploymentWork, deployment: Deployment): Promise<Pass> {
  work.warn(deployment, "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.");
  const { generation = 0 } = deployment.metadata;
  if ((deployment.status?.observedGeneration ?? 0) >= generation) return done;
  return passOf(await updateStatus(work.client, deploymentResource, deployment, { ...deployment.status, observedGeneration: generation }));
}

async function roll(work: DeploymentWork, caches: Caches, rollout: Rollout): Promise<Pass> {
  const noted = await notePause(work, rollout);
  if (!noted.ok) return passOf(noted);
  const current = noted.value;
  if (current.deployment.spec.paused === true) return scale(work, current);
  if (rollbackTarget(current.deployment) !== undefined) return undo(work, current);
  if (isScalingEvent(current)) return scale(work, current);
  return isRolling(current.deployment) ? rollGradually(work, current) : recreate(work, caches, current);
}

/** A paused Deployment makes no progress, and must not exceed its deadline. */
async function notePause(work: DeploymentWork, rollout: Rollout): Promise<Result<Rollout, KubeError>> {
  const { deployment } = rollout;
  const known = conditionOf(deployment.status?.conditions, "Progressing");
  if (progressDeadlineMs(deployment) === undefined || known?.reason === REASONS.timedOut) return ok(rollout);
  const paused = deployment.spec.paused === true;
  if (paused === (known?.reason === REASONS.paused)) return ok(rollout);
  const draft = paused
    ? { reason: REASONS.paused, message: "Deployment is paused" }
    : { reason: REASONS.resumed, message: "Deployment is resumed" };
  const conditions = withCondition(
    deployment.status?.conditions ?? [],
    { type: "Progressing", status: "Unknown", ...draft },
    timestamp(work.clock),
  );
  const written = await updateStatus(work.client, deploymentResource, deployment, { ...deployment.status, conditions });
  return written.ok ? ok({ ...rollout, deployment: written.value }) : written;
}

async function scale(work: DeploymentWork, rollout: Rollout): Promise<Pass> {
  const synced = await syncRevision(work, rollout, "find");
  if (!synced.ok) return passOf(synced);
  const { deployment, oldSets } = synced.value;
  const scaled = await performSteps(work, deployment, planScaling(synced.value));
  if (!scaled.ok) return passOf(scaled);
  if (deployment.spec.paused === true && rollbackTarget(deployment) === undefined) {
    const cleaned = await cleanUp(work, deployment, oldSets);
    if (!cleaned.ok) return passOf(cleaned);
  }
  return write(work, synced.value, deploymentStatus(synced.value, rolloutTimeOf(work)));
}

async function undo(work: DeploymentWork, rollout: Rollout): Promise<Pass> {
  const synced = await syncRevision(work, rollout, "create");
  return passOf(synced.ok ? await rollBack(work, synced.value) : synced);
}

async function rollGradually(work: DeploymentWork, rollout: Rollout): Promise<Pass> {
  const synced = await syncRevision(work, rollout, "create");
  if (!synced.ok) return passOf(synced);
  const current = synced.value;
  for (const plan of [planNewSet, planOldSets]) {
    const scaled = await performSteps(work, current.deployment, plan(current));
    if (!scaled.ok) return passOf(scaled);
    if (scaled.value) return finish(work, current);
  }
  return finishClean(work, current);
}

async function recreate(work: DeploymentWork, caches: Caches, rollout: Rollout): Promise<Pass> {
  const found = await syncRevision(work, rollout, "find");
  if (!found.ok) return passOf(found);
  const { deployment, oldSets } = found.value;
  const emptied = await performSteps(
    work,
    deployment,
    activeSets(oldSets).map((set) => ({ set, size: 0 })),
  );
  if (!emptied.ok) return passOf(emptied);
  if (emptied.value || oldPodsRun(caches, oldSets)) return finish(work, found.value);
  const created = found.value.newSet === undefined ? await syncRevision(work, found.value, "create") : found;
  if (!created.ok) return passOf(created);
  const filled = await performSteps(work, deployment, planNewSet(created.value));
  return filled.ok ? finishClean(work, created.value) : passOf(filled);
}

function oldPodsRun({ pods }: Caches, oldSets: readonly ReplicaSet[]): boolean {
  if (oldSets.some(({ status }) => (status?.replicas ?? 0) > 0)) return true;
  return oldSets.some((set) => ownedBy(pods, set).some((pod) => !isPodOver(pod)));
}

async function finishClean(work: DeploymentWork, rollout: Rollout): Promise<Pass> {
  const { deployment, oldSets } = rollout;
  if (isComplete(deployment, deployment.status ?? {})) {
    const cleaned = await cleanUp(work, deployment, oldSets);
    if (!cleaned.ok) return passOf(cleaned);
  }
  return finish(work, rollout);
}

async function finish(work: DeploymentWork, rollout: Rollout): Promise<Pass> {
  const status = rolloutStatus(rollout, rolloutTimeOf(work));
  if (!jsonEqual(status, rollout.deployment.status)) return write(work, rollout, status);
  const wait = deadlineWaitMs(rollout, status, work.clock.now());
  return wait === undefined ? done : again(wait);
}

async function write(work: DeploymentWork, { deployment }: Rollout, status: DeploymentStatus): Promise<Pass> {
  return passOf(await updateStatus(work.client, deploymentResource, deployment, status));
}
