/** Performs the steps of a scale plan, and removes ReplicaSets beyond the history limit. */
import { ok, type Result } from "#base";
import { keyOf, replicaSets, type Deployment, type ReplicaSet } from "#kube";
import type { KubeError } from "#kube-client";
import { replicasOf } from "../replica-sets/replica-kind.ts";
import type { DeploymentWork } from "./deployment-work.ts";
import { historyLimit } from "./limits.ts";
import { annotationOf, compareRevisions, revisionOf, sizeAnnotations } from "./revisions.ts";
import { byCreation, type ScaleStep } from "./scale-plan.ts";

/** True when a size has changed. Steps without a change of size still update the size annotations. */
export async function performSteps(
  work: DeploymentWork,
  deployment: Deployment,
  steps: readonly ScaleStep[],
): Promise<Result<boolean, KubeError>> {
  const latest = new Map<string, ReplicaSet>();
  let scaled = false;
  for (const { set, size } of steps) {
    const before = latest.get(set.metadata.name) ?? set;
    const after = await scaleSet(work, deployment, { set: before, size });
    if (!after.ok) return after;
    latest.set(set.metadata.name, after.value);
    scaled ||= replicasOf(before) !== size;
  }
  return ok(scaled);
}

async function scaleSet(work: DeploymentWork, deployment: Deployment, { set, size }: ScaleStep): Promise<Result<ReplicaSet, KubeError>> {
  const before = replicasOf(set);
  const sizes = sizeAnnotations(deployment);
  const annotated = Object.entries(sizes).every(([name, value]) => annotationOf(set, name) === value);
  if (before === size && annotated) return ok(set);
  const metadata = { ...set.metadata, annotations: { ...set.metadata.annotations, ...sizes } };
  const updated = await work.client.update(replicaSets, { ...set, metadata, spec: { ...set.spec, replicas: size } });
  if (updated.ok && before !== size) {
    const direction = before < size ? "up" : "down";
    work.tell(deployment, "ScalingReplicaSet", `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`);
  }
  return updated;
}

/** The oldest empty ReplicaSets beyond the history limit. */
export async function cleanUp(
  work: DeploymentWork,
  deployment: Deployment,
  oldSets: readonly ReplicaSet[],
): Promise<Result<void, KubeError>> {
  const limit = historyLimit(deployment);
  if (limit === undefined) return ok(undefined);
  const alive = oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(byRevision);
  for (const set of alive.slice(0, Math.max(0, alive.length - limit)).filter(isEmpty)) {
    const deleted = await work.client.delete(replicaSets, keyOf(set));
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

/** Certainly empty: its status is of the current generation. */
function isEmpty(set: ReplicaSet): boolean {
  const isCurrent = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0);
  return isCurrent && (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0;
}

function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [revisionOf(a), revisionOf(b)];
  if (first === undefined || second === undefined || first === second) return byCreation(a, b);
  return compareRevisions(first, second);
}
