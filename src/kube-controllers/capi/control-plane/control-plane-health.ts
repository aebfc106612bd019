/** How healthy a control plane is, by the conditions of its machines. A simulated machine is a member of etcd from the time it has a Node. */
import { isBeingDeleted } from "#kube";
import { isOlderThan, type CapiWork } from "../capi-work.ts";
import { no, unknown, yes, type ConditionDraft } from "../conditions.ts";
import { conditionOf, isLive, isTrue, nodeNameOf, providerIdOf, trueSince, type CapiObject } from "../objects.ts";

const PODS = ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy"];
const MEMBER = "EtcdMemberHealthy";
/** Partial failures of an available control plane are shown after this time. */
const SHOWN_AFTER_MS = 10_000;
/** So long after the initialization a missing list of etcd members is normal. */
const MEMBERS_MS = 120_000;

export const etcdHealth = (machines: readonly CapiObject[]): ConditionDraft =>
  componentHealth("EtcdClusterHealthy", { machines, types: [MEMBER], note: "etcd member" });

export const componentsHealth = (machines: readonly CapiObject[]): ConditionDraft =>
  componentHealth("ControlPlaneComponentsHealthy", { machines, types: PODS, note: "control plane" });

type Components = { readonly machines: readonly CapiObject[]; readonly types: readonly string[]; readonly note: string };

function componentHealth(type: string, { machines, types, note }: Components): ConditionDraft {
  // a machine without a provider id is being created: what is unknown about it is no issue
  const known = (machine: CapiObject) =>
    types
      .flatMap((one) => conditionOf(machine, one) ?? [])
      .filter(({ status }) => status !== "Unknown" || providerIdOf(machine) !== undefined);
  const reported = machines.flatMap(known);
  const lines = new Map<string, string[]>();
  for (const machine of machines) {
    const message = machineMessage(known(machine));
    if (message !== undefined) lines.set(message, [...(lines.get(message) ?? []), machine.metadata.name]);
  }
  const text = [...lines]
    .toSorted(([, left], [, right]) => right.length - left.length || left.join().localeCompare(right.join()))
    .map(lineOf)
    .join("\n");
  if (reported.some(({ status }) => status === "False")) return no(type, "NotHealthy", text);
  if (reported.some(({ status }) => status === "Unknown")) return unknown(type, "HealthUnknown", text);
  return reported.length > 0 ? yes(type, "Healthy") : unknown(type, "HealthUnknown", `No Machines reporting ${note} status`);
}

type Reported = { readonly type: string; readonly status: string; readonly message?: string };

function machineMessage(conditions: readonly Reported[]): string | undefined {
  const failed = conditions.filter(({ status }) => status !== "True");
  if (failed.length === 0) return undefined;
  const messages = new Set(conditions.map(({ message = "" }) => message));
  if (conditions.length > 1 && messages.size === 1) return `  * Control plane components: ${[...messages].join("")}`;
  return failed.map(({ type, status, message = "" }) => `  * ${type}: ${message === "" ? `condition is ${status}` : message}`).join("\n");
}

const lineOf = ([message, names]: readonly [string, readonly string[]]) =>
  `* Machine${names.length === 1 ? "" : "s"} ${names.toSorted().slice(0, 3).join(", ")}${names.length > 3 ? `, ... (${names.length - 3} more)` : ""}:\n${message}`;

export type AvailabilityInput = {
  readonly machines: readonly CapiObject[];
  readonly initialized: boolean;
  readonly hasCertificates: boolean;
};

export function controlPlaneAvailable(work: CapiWork, controlPlane: CapiObject, input: AvailabilityInput): ConditionDraft {
  const type = "Available";
  const { machines, initialized, hasCertificates } = input;
  if (!initialized) return no(type, "NotAvailable", "Control plane not yet initialized");
  const members = machines.filter((machine) => nodeNameOf(machine) !== undefined);
  if (!members.some((machine) => isLive(machine) && conditionOf(machine, MEMBER)?.status !== "Unknown")) {
    const since = trueSince(controlPlane, "Initialized") ?? work.clock.now();
    return work.clock.now() - since < MEMBERS_MS
      ? no(type, "NotAvailable", "Waiting for etcd to report the list of members")
      : unknown(type, "InspectionFailed", "Failed to get etcd members");
  }
  const etcd = countHealthy(work, members, [MEMBER]);
  const components = countHealthy(
    work,
    machines.filter((machine) => providerIdOf(machine) !== undefined),
    [...PODS, MEMBER],
  );
  const quorum = Math.floor(members.length / 2) + 1;
  const required = `at least ${quorum} healthy member required for etcd quorum`;
  if (isLive(controlPlane) && etcd.healthy >= quorum && components.healthy >= 1 && hasCertificates) {
    const messages = [
      ...(etcd.failed > 0
        ? [`* ${etcd.healthy + etcd.recent} of ${members.length} etcd members ${are(etcd.healthy + etcd.recent)} healthy, ${required}`]
        : []),
      ...(components.failed > 0 ? [machinesLine(components.healthy + components.recent, machines.length)] : []),
    ];
    return yes(type, "Available", messages.join("\n"));
  }
  const messages = [
    ...(isBeingDeleted(controlPlane) ? ["* Control plane metadata.deletionTimestamp is set"] : []),
    ...(hasCertificates ? [] : ["* Control plane certificates are not available"]),
    ...(etcd.healthy >= quorum
      ? []
      : [
          etcd.healthy === 0
            ? `* There are no healthy etcd member, ${required}`
            : `* ${etcd.healthy} of ${members.length} etcd members ${are(etcd.healthy)} healthy, ${required}`,
        ]),
    ...(components.healthy > 0 ? [] : ["* There are no Machines with healthy control plane components, at least 1 required"]),
  ];
  return no(type, "NotAvailable", messages.join("\n"));
}

const are = (count: number) => (count === 1 ? "is" : "are");
const machinesLine = (healthy: number, all: number) =>
  `* ${healthy} of ${all} Machines ${healthy === 1 ? "has" : "have"} healthy control plane components, at least 1 required`;

type HealthCounts = {
  readonly healthy: number;
  readonly failed: number;
  /** Failed too short a time ago to be shown. */ readonly recent: number;
};

function countHealthy(work: CapiWork, machines: readonly CapiObject[], types: readonly string[]): HealthCounts {
  const sick = machines.filter((machine) => !types.every((type) => isTrue(machine, type)));
  const isOld = (machine: CapiObject) =>
    types.some((type) => !isTrue(machine, type) && isOlderThan(work, conditionOf(machine, type)?.lastTransitionTime, SHOWN_AFTER_MS));
  const failed = sick.filter(isOld).length;
  return { healthy: machines.length - sick.length, failed, recent: sick.length - failed };
}
