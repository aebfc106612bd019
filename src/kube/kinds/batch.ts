/** The kinds of `batch/v1`. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { LabelSelector } from "../selectors.ts";
import type { PodTemplate, TruthStatus } from "./pod.ts";

export type JobCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type JobStatus = {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
};

export type ExitCodesRequirement = { readonly containerName?: string; readonly operator: string; readonly values: readonly number[] };

export type PodFailureRule = {
  readonly action: string;
  readonly onExitCodes?: ExitCodesRequirement;
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
};

export type SuccessRule = { readonly succeededIndexes?: string; readonly succeededCount?: number };

export type JobSpec = {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] };
  readonly successPolicy?: { readonly rules: readonly SuccessRule[] };
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly template: PodTemplate;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: string;
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: string;
  readonly managedBy?: string;
};

export type Job = KubeObject & { readonly spec: JobSpec; readonly status?: JobStatus };

export type ActiveJob = {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
};

export type CronJobStatus = {
  readonly active?: readonly ActiveJob[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
};

export type CronJob = KubeObject & {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly startingDeadlineSeconds?: number;
    readonly concurrencyPolicy?: string;
    readonly suspend?: boolean;
    readonly jobTemplate: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: JobSpec;
    };
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
  };
  readonly status?: CronJobStatus;
};

export const jobs = defineResource<Job>({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });
export const cronJobs = defineResource<CronJob>({
  group: "batch",
  version: "v1",
  kind: "CronJob",
  plural: "cronjobs",
  namespaced: true,
});
