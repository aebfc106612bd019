import type { JobCondition, TruthStatus } from "#kube";
/** Conditions of Jobs, and the ways in which a Job ends. */

export type JobConditions = readonly JobCondition[];

/** How a Job will end, decided before it has ended: its Pods must end first. */
export type Ending = { readonly result: "Complete" | "Failed"; readonly reason: string; readonly message: string };

export const COMPLETED: Ending = { result: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };

export const failedBy = (reason: string, message: string): Ending => ({ result: "Failed", reason, message });

/** The condition that announces the end. */
export const TARGETS = { Complete: "SuccessCriteriaMet", Failed: "FailureTarget" } as const;

export function newCondition(type: string, draft: { status?: TruthStatus; reason: string; message: string }, now: string): JobCondition {
  const { status = "True", reason, message } = draft;
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}

/** Replaces the condition of the same type if it differs; a `False` without an earlier condition is not added. */
export function ensureCondition(conditions: JobConditions, wanted: JobCondition): JobConditions {
  const index = conditions.findIndex(({ type }) => type === wanted.type);
  const known = conditions[index];
  if (known === undefined) return wanted.status === "False" ? conditions : [...conditions, wanted];
  const same = known.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
  return same ? conditions : conditions.with(index, wanted);
}
