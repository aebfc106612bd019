/** Which machines a MachineSet deletes first: those already going, marked ones, unhealthy ones, and the rest by `spec.deletion.order`. */
import { isBeingDeleted, type KubeObject } from "#kube";
import { DELETE_MACHINE_ANNOTATION } from "../names.ts";
import { byAge, isFalse, nodeNameOf, textAt, type CapiObject } from "../objects.ts";

export function deletionOrder(set: CapiObject, machines: readonly CapiObject[]): readonly CapiObject[] {
  const oldestFirst = textAt(set, "spec", "deletion", "order") === "Oldest";
  const age = (left: KubeObject, right: KubeObject) => (oldestFirst ? byAge(left, right) : byAge(right, left));
  return [...machines].toSorted((left, right) => rank(left) - rank(right) || age(left, right));
}

function rank(machine: CapiObject): number {
  if (isBeingDeleted(machine)) return 0;
  if (Object.hasOwn(machine.metadata.annotations ?? {}, DELETE_MACHINE_ANNOTATION)) return 1;
  if (nodeNameOf(machine) === undefined || isFalse(machine, "NodeHealthy") || isFalse(machine, "HealthCheckSucceeded")) return 2;
  return 3;
}
