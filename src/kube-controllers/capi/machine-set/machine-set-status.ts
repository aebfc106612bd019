/** The status of a MachineSet. */
import { isBeingDeleted, type JsonObject } from "#kube";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, deletingCondition, notPaused } from "../conditions.ts";
import { objectAt, refAt, replicasOf, statusOf, versionsOf, type CapiObject } from "../objects.ts";
import {
  machinesReady,
  machinesUpToDate,
  remediating,
  replicaCounts,
  scalingDown,
  scalingUp,
  selectorText,
} from "../scaling-conditions.ts";

export function machineSetStatus(work: CapiWork, set: CapiObject, machines: readonly CapiObject[], blocked: readonly string[]): JsonObject {
  const desired = isBeingDeleted(set) ? 0 : replicasOf(set);
  const drafts = [
    remediating(machines),
    scalingDown(machines.length, desired),
    scalingUp(machines.length, desired, [...blocked.map((one) => `* ${one}`), ...missing(work, set)]),
    machinesReady(machines),
    machinesUpToDate(machines),
    notPaused,
    deletingCondition(set, "Deleting", deletion(machines.length)),
  ];
  return {
    ...statusOf(set),
    observedGeneration: set.metadata.generation ?? 0,
    selector: selectorText(objectAt(set, "spec", "selector")),
    ...replicaCounts(machines),
    versions: versionsOf(machines),
    conditions: conditionsWith(set, drafts, nowOf(work)),
  };
}

function missing({ caches }: CapiWork, set: CapiObject): readonly string[] {
  const refs = [
    refAt(set, "spec", "template", "spec", "bootstrap", "configRef"),
    refAt(set, "spec", "template", "spec", "infrastructureRef"),
  ];
  const absent = refs.flatMap((ref) => (ref === undefined || caches.resolve(set.metadata.namespace, ref) !== undefined ? [] : [ref.kind]));
  return absent.length === 0 ? [] : [`* ${absent.join(" and ")} ${absent.length === 1 ? "does" : "do"} not exist`];
}

function deletion(machines: number): string {
  return machines === 0 ? "Deletion completed" : `Deleting ${machines} Machine${machines === 1 ? "" : "s"}`;
}
