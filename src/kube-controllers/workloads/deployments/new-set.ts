/**
 * Finds the ReplicaSet with the Deployment's template, creates it if missing, and keeps the revisions of both in sync.
 *
 * The revision is written through `status`, as in Kubernetes: a write of annotations that triggers no rollout.
 */
import { ok, timestamp, type Result } from "#base";
import { deployments, jsonEqual, keyOf, replicaSets, type Deployment, type LabelSelector, type ReplicaSet } from "#kube";
import { failure, type KubeError } from "#kube-client";
import { controllerReference, isControlledBy } from "../pods/owners.ts";
import { isNamespaceEnding } from "../pods/pod-control.ts";
import { templateHash } from "../revisions/hashes.ts";
import { POD_TEMPLATE_HASH, sameTemplate } from "../revisions/template-equality.ts";
import { conditionOf, REASONS, withCondition, type DeploymentConditionDraft } from "./conditions.ts";
import type { DeploymentWork } from "./deployment-work.ts";
import { newSetSize, progressDeadlineMs } from "./limits.ts";
import { annotationOf, maxRevision, newSetAnnotations, REVISION } from "./revisions.ts";
import type { Rollout } from "./rollout-status.ts";
import { byCreation } from "./scale-plan.ts";

export function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const oldestFirst = sets.toSorted(byCreation);
  const newSet = oldestFirst.find((set) => sameTemplate(set.spec.template, deployment.spec.template));
  return { deployment, newSet, oldSets: oldestFirst.filter((set) => set !== newSet) };
}

/** The rollout with revisions in sync; with `create`, also with a new set. The result contains the written objects. */
export async function syncRevision(work: DeploymentWork, rollout: Rollout, create: "create" | "find"): Promise<Result<Rollout, KubeError>> {
  if (rollout.newSet !== undefined) return syncKnownSet(work, rollout, rollout.newSet);
  return create === "create" ? createSet(work, rollout) : ok(rollout);
}

async function syncKnownSet(work: DeploymentWork, rollout: Rollout, newSet: ReplicaSet): Promise<Result<Rollout, KubeError>> {
  const { deployment, oldSets } = rollout;
  const annotations = newSetAnnotations(deployment, newSet.metadata.annotations ?? {}, maxRevision(oldSets) + 1n);
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  if (!jsonEqual(annotations, newSet.metadata.annotations ?? {}) || minReadySeconds !== (newSet.spec.minReadySeconds ?? 0)) {
    const next = { ...newSet, metadata: { ...newSet.metadata, annotations }, spec: { ...newSet.spec, minReadySeconds } };
    const updated = await work.client.update(replicaSets, next);
    return updated.ok ? ok({ ...rollout, newSet: updated.value }) : updated;
  }
  const message = `Found new replica set "${newSet.metadata.name}"`;
  const found = conditionOf(deployment.status?.conditions, "Progressing") === undefined;
  const draft: DeploymentConditionDraft = { type: "Progressing", status: "True", reason: REASONS.newSetFound, message };
  return noteRevision(work, rollout, annotationOf(newSet, REVISION) ?? "", found ? draft : undefined);
}

/** Writes revision and condition in one request, or nothing when both are current. */
async function noteRevision(
  work: DeploymentWork,
  rollout: Rollout,
  revision: string,
  draft: DeploymentConditionDraft | undefined,
): Promise<Result<Rollout, KubeError>> {
  const { deployment } = rollout;
  const { status, metadata } = deployment;
  const known = status?.conditions ?? [];
  const conditions =
    draft === undefined || progressDeadlineMs(deployment) === undefined ? known : withCondition(known, draft, timestamp(work.clock));
  if (annotationOf(deployment, REVISION) === revision && conditions === known) return ok(rollout);
  const annotations = { ...metadata.annotations, [REVISION]: revision };
  const next = { ...deployment, metadata: { ...metadata, annotations }, status: { ...status, conditions } };
  const updated = await work.client.update(deployments, next, { subresource: "status" });
  return updated.ok ? ok({ ...rollout, deployment: updated.value }) : updated;
}

async function createSet(work: DeploymentWork, rollout: Rollout): Promise<Result<Rollout, KubeError>> {
  const { deployment, oldSets } = rollout;
  const revision = maxRevision(oldSets) + 1n;
  const wanted = newSetFor(deployment, oldSets, revision);
  const created = await work.client.create(replicaSets, wanted);
  if (!created.ok) {
    if (created.error.kind === "already-exists") return resolveCollision(work, rollout, wanted, revision);
    return noteCreateFailure(work, deployment, wanted, created.error);
  }
  const { name } = created.value.metadata;
  const size = created.value.spec.replicas ?? 0;
  if (size > 0) work.tell(deployment, "ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${size}`);
  const draft: DeploymentConditionDraft = {
    type: "Progressing",
    status: "True",
    reason: REASONS.newSetCreated,
    message: `Created new replica set "${name}"`,
  };
  return noteRevision(work, { ...rollout, newSet: created.value }, String(revision), draft);
}

function newSetFor(deployment: Deployment, oldSets: readonly ReplicaSet[], revision: bigint): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [POD_TEMPLATE_HASH]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: nameWith(deployment.metadata.name, hash),
      namespace: deployment.metadata.namespace ?? "",
      ownerReferences: [controllerReference(deployment, deployments)],
      labels,
      annotations: newSetAnnotations(deployment, undefined, revision),
    },
    spec: {
      replicas: newSetSize(deployment, oldSets, 0),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: withLabel(selector, hash),
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function nameWith(name: string, hash: string): string {
  return `${name.slice(0, 253 - 1 - hash.length)}-${hash}`;
}

function withLabel(selector: LabelSelector, hash: string): LabelSelector {
  return { ...selector, matchLabels: { ...selector.matchLabels, [POD_TEMPLATE_HASH]: hash } };
}

/** Ours, and not in the cache yet; or another template with the same hash: then the next attempt increments the collision count. */
async function resolveCollision(
  work: DeploymentWork,
  rollout: Rollout,
  wanted: ReplicaSet,
  revision: bigint,
): Promise<Result<Rollout, KubeError>> {
  const { deployment } = rollout;
  const there = await work.client.get(replicaSets, keyOf(wanted));
  if (!there.ok) return there;
  if (isControlledBy(there.value, deployment) && sameTemplate(there.value.spec.template, deployment.spec.template)) {
    return noteRevision(work, { ...rollout, newSet: there.value }, String(revision), undefined);
  }
  const status = { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 };
  const counted = await work.client.update(deployments, { ...deployment, status }, { subresource: "status" });
  return counted.ok ? failure("conflict", `another ReplicaSet is called ${wanted.metadata.name}`) : counted;
}

async function noteCreateFailure(
  work: DeploymentWork,
  deployment: Deployment,
  wanted: ReplicaSet,
  error: KubeError,
): Promise<Result<Rollout, KubeError>> {
  if (isNamespaceEnding(error)) return { ok: false, error };
  const message = `Failed to create new replica set "${wanted.metadata.name}": ${error.message}`;
  if (progressDeadlineMs(deployment) !== undefined) {
    const draft: DeploymentConditionDraft = { type: "Progressing", status: "False", reason: REASONS.createFailed, message };
    const conditions = withCondition(deployment.status?.conditions ?? [], draft, timestamp(work.clock));
    const status = { ...deployment.status, conditions };
    await work.client.update(deployments, { ...deployment, status }, { subresource: "status" });
  }
  work.warn(deployment, REASONS.createFailed, message);
  return { ok: false, error };
}
