/**
 * The order of steps across objects: those that cause each other, by the resourceVersions, which one counter gives to all kinds.
 *
 * A step of several objects of one role counts when the first of them takes it. Steps that do not wait for each other are left out: which of
 * a machine's phase and conditions is written first, for example.
 */
import { stateFields } from "./fields.ts";
import type { StoryRoles } from "./roles.ts";
import type { StoryEvent, StoryObject } from "./recorder.ts";

const STEPS: Readonly<Record<string, readonly string[]>> = {
  Cluster: ["InfrastructureReady True", "ControlPlaneInitialized True", "Available True"],
  KubeadmControlPlane: ["CertificatesAvailable True", "Initialized True"],
  KubeadmConfig: ["DataSecretAvailable True"],
  DevMachine: ["VMProvisioned True"],
  MachineDeployment: ["Available True"],
};
/** When the first workers are created depends on how often a MachineSet looks at the control plane, so Pending is no step of theirs. */
const WORKER_STEPS = ["phase Provisioning", "Available True", "phase Deleting"];
const CONTROL_PLANE_STEPS = ["phase Pending", "phase Provisioning"];

/** `known`: the objects as they were before the chapter, by uid. */
export function milestones(events: readonly StoryEvent[], roles: StoryRoles, known: ReadonlyMap<string, StoryObject>): readonly string[] {
  const current = new Map(known);
  const order: string[] = [];
  for (const { object } of events.toSorted((left, right) => versionOf(left) - versionOf(right))) {
    const uid = object.metadata.uid ?? "";
    const before = new Set(stepsOf(current.get(uid)));
    current.set(uid, object);
    const role = roles.of(object);
    order.push(
      ...stepsOf(object)
        .filter((step) => !before.has(step))
        .map((step) => `${role} ${step}`),
    );
  }
  return order.filter((step, at) => order.indexOf(step) === at);
}

const versionOf = ({ object }: StoryEvent) => Number(object.metadata.resourceVersion ?? 0);

function stepsOf(object: StoryObject | undefined): readonly string[] {
  if (object === undefined) return [];
  const isControlPlane = Object.hasOwn(object.metadata.labels ?? {}, "cluster.x-k8s.io/control-plane");
  const steps = object.kind === "Machine" ? (isControlPlane ? CONTROL_PLANE_STEPS : WORKER_STEPS) : (STEPS[object.kind] ?? []);
  const states = stateFields(object).map(([field, value]) => `${field} ${value.split(" ")[0] ?? ""}`);
  return steps.filter((step) => states.includes(step));
}
