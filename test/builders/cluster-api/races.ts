/** What differs between two runs of the real managers, so that no golden file can have it. */

/**
 * Values that a controller shows only if it runs between two writes of others: conditions before their first inspection, the wait for bootstrap
 * data, which takes one pass, details of a control plane that is available, which appear after ten seconds, and the
 * second look of a health check at a machine that is being deleted.
 */
const SHORT_LIVED = /^Unknown |^False WaitingForBootstrapData$|^True Available "|^False NodeDeleted "Health check failed/;

/** A machine may get its Node before a pass sees that it is provisioned. */
export const isShortLived = (kind: string, field: string, value: string): boolean =>
  SHORT_LIVED.test(value) || (kind === "Machine" && field === "phase" && value === "Provisioned");

/** Conditions whose messages name machines one by one, as they change: only the message at the end of a chapter is compared. */
const SUMMARIES = ["Ready", "MachinesReady", "WorkerMachinesReady", "ControlPlaneMachinesReady", "Remediating"];
/** Such conditions of objects that have several machines. */
const COUNTS_OF_MANY = [
  "Available",
  "WorkersAvailable",
  "ScalingUp",
  "ScalingDown",
  "RollingOut",
  "MachinesUpToDate",
  "WorkerMachinesUpToDate",
  "Deleting",
];
const OF_MANY = ["Cluster", "MachineDeployment", "MachineSet"];

export function isMessageRace(kind: string, type: string): boolean {
  if (SUMMARIES.includes(type)) return kind !== "KubeadmConfig";
  // the infrastructure's summary, copied
  if (kind === "Machine" && type === "InfrastructureReady") return true;
  // members and Nodes of a machine that joins appear one after the other
  if (kind === "KubeadmControlPlane" && type === "EtcdClusterHealthy") return true;
  return OF_MANY.includes(kind) && COUNTS_OF_MANY.includes(type);
}

type Race = { readonly chapter: string; readonly role: string; readonly fields: readonly string[]; readonly why: string };

const BRIEF = "a MachineSet has fewer machines than replicas only until its next pass, and others may not see it";
const RACES: readonly Race[] = [
  { chapter: "a Node fails", role: "Cluster c1", fields: ["ScalingUp"], why: BRIEF },
  { chapter: "a Node fails", role: "MachineDeployment c1-md", fields: ["ScalingUp", "phase"], why: BRIEF },
  {
    chapter: "deleted",
    role: "Machine <control-plane machine>",
    fields: ["NodeHealthy", "NodeReady", "NodeKubeadmLabelsAndTaintsSet"],
    why: "the last Node goes together with the API server that shows it",
  },
];

export function isRace(chapter: string, role: string, field: string): boolean {
  return RACES.some((race) => race.chapter === chapter && race.role === role && race.fields.includes(field));
}
