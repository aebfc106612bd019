/** The running Jobs of a CronJob: a list in its status. */
import { jobs, type CronJob, type CronJobStatus, type Job } from "#kube";
import type { KubeControllerContext } from "../../context.ts";
import type { Pass } from "../../work.ts";

/** The status after a pass, and when the next is due. */
export type CronJobRun = { readonly status: CronJobStatus; readonly pass: Pass };

export async function deleteJob(
  { client, record }: KubeControllerContext,
  cronJob: CronJob,
  { metadata: { name, namespace } }: Job,
): Promise<boolean> {
  const deleted = await client.delete(jobs, { namespace, name }, { propagation: "Background" });
  if (deleted.ok) record({ regarding: cronJob, type: "Normal", reason: "SuccessfulDelete", note: `Deleted job ${name}` });
  else record({ regarding: cronJob, type: "Warning", reason: "FailedDelete", note: `Deleted job: ${deleted.error.message}` });
  return deleted.ok;
}

export function withoutActive(status: CronJobStatus, { metadata }: Pick<Job, "metadata">): CronJobStatus {
  const { active = [], ...rest } = status;
  const kept = active.filter(({ uid }) => uid !== metadata.uid);
  return kept.length === 0 ? rest : { ...rest, active: kept };
}
