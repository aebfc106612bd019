/** Deletes finished Jobs `ttlSecondsAfterFinished` after their end. */
import { jobs, keyText, parseKey, type Job } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { timeOf } from "../pods/pod-state.ts";
import { conditionOf, finishedAs } from "./job-facts.ts";

export const ttlAfterFinishedController: KubeController = {
  name: "ttl-after-finished-controller",
  start(context) {
    const queue = context.work({ name: "ttl-after-finished", pass: (key) => pass(context, key) });
    context.informers.subscribe(jobs, ({ key, after }) => {
      if (after !== undefined && expiryOf(after) !== undefined) queue.add(keyText(key));
    });
  },
};

/** Undefined while it runs, without a TTL, and when it is already being deleted. */
function expiryOf(job: Job): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const result = finishedAs(job);
  if (ttlSecondsAfterFinished === undefined || result === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  return timeOf(conditionOf(job, result)?.lastTransitionTime) + ttlSecondsAfterFinished * 1_000;
}

async function pass({ client, clock, informers }: KubeControllerContext, key: string): Promise<Pass> {
  const cached = informers.of(jobs).get(parseKey(key));
  const expiry = cached === undefined ? undefined : expiryOf(cached);
  if (expiry === undefined) return done;
  if (expiry > clock.now()) return again(expiry - clock.now());
  // the cache may be stale: the TTL may have just been extended
  const fresh = await client.get(jobs, parseKey(key));
  if (!fresh.ok) return fresh.error.kind === "not-found" ? done : passOf(fresh);
  const left = (expiryOf(fresh.value) ?? Infinity) - clock.now();
  if (left > 0) return left === Infinity ? done : again(left);
  const { uid = "" } = fresh.value.metadata;
  return passOf(await client.delete(jobs, parseKey(key), { propagation: "Foreground", preconditions: { uid } }));
}
