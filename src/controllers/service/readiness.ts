/** Whether a service that was compiled and applied is Ready, and how a pass over it ends. Pure. */
import { REQUEUE, settled, stalled, waiting, type ReconcileOutcome } from "#controller-runtime";
import type { LatticeServiceStatus } from "#crds";
import type { NewCondition } from "#kube";
import { missingProblem, type MissingKinds } from "../namespace/protection.ts";
import { notReady, ready, type ServiceReason } from "./conditions.ts";
import type { PatchProgress } from "./patch-progress.ts";
import type { ServiceRollout } from "./rollout.ts";

export type Phase = NonNullable<LatticeServiceStatus["phase"]>;

export type Readiness =
  | { readonly phase: "Ready"; readonly message: string }
  | { readonly phase: Exclude<Phase, "Ready">; readonly reason: ServiceReason; readonly message: string };

/**
 * A rolling update of an available service stays Ready, even without progress: WorkloadsReady reports that. `patch`: in patch mode, the progress
 * of the patch.
 */
export function readinessOf(missing: MissingKinds, rollout: ServiceRollout, patch?: PatchProgress): Readiness {
  const { stuck, available, reason, message } = rollout;
  const waited = missingProblem(missing);
  if (waited !== undefined) return { phase: "Pending", reason: "CRDsMissing", message: waited };
  if (patch?.done === false) return { phase: patch.stuck ? "Failed" : "Pending", reason: patch.reason, message: patch.message };
  if (available) return { phase: "Ready", message };
  return { phase: stuck ? "Failed" : "Pending", reason, message };
}

export function readyCondition(readiness: Readiness): NewCondition {
  return readiness.phase === "Ready" ? ready() : notReady(readiness.reason, readiness.message);
}

/** A change of the Deployment or the answer of the webhook ends them. */
const WAITED_FOR: ReadonlySet<ServiceReason> = new Set(["PatchRequested", "WorkloadNotFound"]);

/** Starting pods are waited for; any other reason why a service is not Ready needs a user, and is a warning. */
export function outcomeOf(readiness: Readiness, recheckMs: number): ReconcileOutcome {
  if (readiness.phase === "Ready") return settled;
  const { phase, reason, message } = readiness;
  // constant text: events are aggregated by it, and the number of ready pods changes
  if (reason === "RollingOut") return waiting(reason, recheckMs, "waiting until enough pods are ready");
  if (WAITED_FOR.has(reason)) return waiting(reason, recheckMs, message);
  return stalled(reason, message, phase === "Failed" || reason === "CRDsMissing" ? REQUEUE.compileErrorMs : recheckMs);
}
