/** Machines that a MachineHealthCheck found unhealthy, and leaves to their set: which of them are replaced now. */
import { ok, type Result } from "#base";
import { capiMachines, fieldAt } from "#kube";
import type { KubeError } from "#kube-client";
import { nowOf, recordEvent, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, type ConditionDraft } from "../conditions.ts";
import { resolveAmount } from "../machine-deployment/rollout-plan.ts";
import { REVISION_ANNOTATION } from "../names.ts";
import { byAge, conditionOf, isFalse, isLive, replicasOf, statusOf, type CapiObject } from "../objects.ts";
import { deleteObject, writeStatus } from "../writes.ts";

const TYPE = "OwnerRemediated";
const DELETING = no(TYPE, "MachineDeleting", "Machine is deleting");
const PENDING_REMOVAL = no(TYPE, "CannotBeRemediated", "Machine won't be remediated because it is pending removal due to rollout");

export type RemediationInput = {
  readonly set: CapiObject;
  readonly deployment: CapiObject | undefined;
  readonly machines: readonly CapiObject[];
  /** Failed preflight checks. */
  readonly blocked: readonly string[];
};

export const mustRemediate = (machine: CapiObject): boolean =>
  isLive(machine) && isFalse(machine, "HealthCheckSucceeded") && isFalse(machine, TYPE);

/** Deletes the machines whose turn it is; the conditions of the others say why they wait. */
export async function remediateMachines(work: CapiWork, input: RemediationInput): Promise<Result<void, KubeError>> {
  for (const [machine, condition] of planRemediation(input)) {
    const conditions = conditionsWith(machine, [condition], nowOf(work));
    const marked = await writeStatus(work.client, capiMachines, machine, { ...statusOf(machine), conditions });
    if (!marked.ok) return marked;
    if (condition !== DELETING) continue;
    // marked first: a machine that is being deleted is not chosen again
    const deleted = await deleteObject(work.client, capiMachines, marked.value);
    if (!deleted.ok) return deleted;
    recordEvent(work, input.set, "SuccessfulDelete", `Deleted Machine ${machine.metadata.name}`);
  }
  return ok(undefined);
}

/** The newest machine first: it is the least likely to have workloads. */
export function planRemediation(input: RemediationInput): readonly (readonly [CapiObject, ConditionDraft])[] {
  const { set, deployment, machines, blocked } = input;
  const unhealthy = machines.filter(mustRemediate).toSorted((left, right) => byAge(right, left));
  if (deployment !== undefined && revisionOf(deployment) !== revisionOf(set)) return unhealthy.map((machine) => [machine, PENDING_REMOVAL]);
  const limit = fieldAt(deployment, "spec", "remediation", "maxInFlight");
  const inFlight = machines.filter((machine) => !isLive(machine) && conditionOf(machine, TYPE)?.reason === DELETING.reason).length;
  const allowed = resolveAmount(limit, deployment === undefined ? 0 : replicasOf(deployment), "up") ?? Number.POSITIVE_INFINITY;
  const limitText = typeof limit === "string" || typeof limit === "number" ? limit : "";
  const tooMany = `Waiting because there are already too many remediations in progress (spec.strategy.remediation.maxInFlight is ${limitText})`;
  const isBlocked = blocked.length > 0;
  const next = isBlocked ? no(TYPE, "RemediationDeferred", blocked.map((one) => `* ${one}`).join("\n")) : DELETING;
  return unhealthy.map((machine, at) => [machine, at < allowed - inFlight ? next : no(TYPE, "RemediationDeferred", tooMany)]);
}

const revisionOf = ({ metadata }: CapiObject) => metadata.annotations?.[REVISION_ANNOTATION];
