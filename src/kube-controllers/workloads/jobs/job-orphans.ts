/** Removes the tracking finalizer of Pods without a Job that would remove it: the Job is deleted, finished, or has released them. */
import { jobs as jobResource, keyOf, keyText, parseKey, pods, type Pod } from "#kube";
import type { KubeControllerContext } from "../../context.ts";
import { done, passOf, type Pass } from "../../work.ts";
import { controllerOf, ownedBy, resolveController } from "../pods/owners.ts";
import { finishedAs, isForeign, isTracked } from "./job-facts.ts";
import { removeFinalizer, type JobWork } from "./job-work.ts";

export function followOrphans(context: KubeControllerContext, work: JobWork): void {
  const queue = context.work({ name: "job-orphan-pods", pass: (key) => pass(work, key) });
  const enqueue = (pod: Pod) => queue.add(keyText(keyOf(pod)));
  context.informers.subscribe(pods, ({ after }) => {
    if (after !== undefined && isOrphan(work, after)) enqueue(after);
  });
  context.informers.subscribe(jobResource, ({ before, after }) => {
    const job = after ?? before;
    if (job !== undefined && (after === undefined || finishedAs(after) !== undefined))
      ownedBy(work.pods, job).filter(isTracked).forEach(enqueue);
  });
}

function isOrphan({ jobs }: JobWork, pod: Pod): boolean {
  if (!isTracked(pod)) return false;
  const controller = controllerOf(pod);
  if (controller === undefined) return true;
  if (controller.kind !== jobResource.kind || !controller.apiVersion.startsWith("batch/")) return false;
  const job = resolveController(jobs, jobResource, pod);
  return job === undefined || (finishedAs(job) !== undefined && !isForeign(job));
}

async function pass(work: JobWork, key: string): Promise<Pass> {
  const pod = work.pods.get(parseKey(key));
  if (pod === undefined || !isOrphan(work, pod)) return done;
  const removed = await removeFinalizer(work, pod);
  return removed.ok || removed.error.kind === "not-found" ? done : passOf(removed);
}
