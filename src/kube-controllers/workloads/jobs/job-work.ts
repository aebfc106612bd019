/** The context of the steps of a Job's pass, and the state between passes. */
import type { EventNote, Informer } from "#controller-runtime";
import { keyOf, pods, type Job, type Pod } from "#kube";
import type { Clock, Result } from "#base";
import type { KubeClient, KubeError } from "#kube-client";
import type { Expectations } from "../pods/expectations.ts";
import type { PodControl } from "../pods/pod-control.ts";
import type { WrittenVersions } from "../pods/written-versions.ts";
import type { BackoffRecord } from "./job-backoff.ts";
import { TRACKING_FINALIZER } from "./job-facts.ts";

export type JobWork = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly record: (note: EventNote) => void;
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
  readonly control: PodControl;
  readonly expectations: Expectations;
  /** By job key: uids of Pods whose finalizer was removed here, and whose removal is not observed yet. */
  readonly settling: Map<string, Set<string>>;
  readonly backoffs: Map<string, BackoffRecord>;
  /** Jobs whose status was written here: a pass waits until the cache has it. */
  readonly written: WrittenVersions;
};

export function removeFinalizer({ client }: JobWork, pod: Pod): Promise<Result<Pod, KubeError>> {
  const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER] } };
  return client.patch(pods, keyOf(pod), { type: "strategic", patch });
}

export function forgetJob({ expectations, settling, backoffs }: JobWork, key: string): void {
  expectations.forget(key);
  settling.delete(key);
  backoffs.delete(key);
}
