/**
 * The deprecated rollback: an annotation that names a revision. `kubectl rollout undo` patches the template itself and does not use it;
 * clients of extensions/v1beta1 did, and the annotation still works.
 */
import { ok, type Result } from "#base";
import { deployments, type Deployment } from "#kube";
import type { KubeError } from "#kube-client";
import { POD_TEMPLATE_HASH, sameTemplate } from "../revisions/template-equality.ts";
import type { DeploymentWork } from "./deployment-work.ts";
import { annotationOf, lastRevision, parseRevision, revisionOf, ROLLBACK_TO, rolledBackAnnotations } from "./revisions.ts";
import { allSets, type Rollout } from "./rollout-status.ts";

/** The revision to roll back to; 0 means the last one. */
export function rollbackTarget(deployment: Deployment): bigint | undefined {
  return parseRevision(annotationOf(deployment, ROLLBACK_TO));
}

export async function rollBack(work: DeploymentWork, rollout: Rollout): Promise<Result<void, KubeError>> {
  const { deployment } = rollout;
  const sets = allSets(rollout);
  const asked = rollbackTarget(deployment) ?? 0n;
  const revision = asked === 0n ? lastRevision(sets) : asked;
  const target = revision === 0n ? undefined : sets.find((set) => revisionOf(set) === revision);
  const written = await write(work, target === undefined ? withoutTarget(deployment) : rolledBack(deployment, target));
  if (!written.ok) return written;
  if (target === undefined) {
    const note = asked === 0n && revision === 0n ? "Unable to find last revision." : "Unable to find the revision to rollback to.";
    work.warn(deployment, "DeploymentRollbackRevisionNotFound", note);
  } else if (sameTemplate(deployment.spec.template, target.spec.template)) {
    const note = `The rollback revision contains the same template as current deployment "${deployment.metadata.name}"`;
    work.warn(deployment, "DeploymentRollbackTemplateUnchanged", note);
  } else {
    work.tell(deployment, "DeploymentRollback", `Rolled back deployment "${deployment.metadata.name}" to revision ${revision}`);
  }
  return ok(undefined);
}

function rolledBack(deployment: Deployment, target: Parameters<typeof rolledBackAnnotations>[1]): Deployment {
  if (sameTemplate(deployment.spec.template, target.spec.template)) return withoutTarget(deployment);
  const { template } = target.spec;
  const labels = Object.fromEntries(Object.entries(template.metadata?.labels ?? {}).filter(([name]) => name !== POD_TEMPLATE_HASH));
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: rolledBackAnnotations(deployment, target) },
    spec: { ...deployment.spec, template: { ...template, metadata: { ...template.metadata, labels } } },
  };
}

function withoutTarget(deployment: Deployment): Deployment {
  const annotations = Object.fromEntries(Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => name !== ROLLBACK_TO));
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

function write(work: DeploymentWork, deployment: Deployment): Promise<Result<Deployment, KubeError>> {
  return work.client.update(deployments, deployment);
}
