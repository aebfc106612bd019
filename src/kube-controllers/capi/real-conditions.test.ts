/** The conditions of a settled cluster beside those that the real controllers of Cluster API 1.14.2 wrote for one of the same shape. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { provisioned } from "./capi-steps.test-support.ts";
import type { CapiWorld } from "./capi-world.test-support.ts";
import { conditionsOf } from "./objects.ts";

/** From a cluster of the in-memory provider with one control plane and two workers. */
const REAL: readonly (readonly [string, readonly string[]])[] = [
  [
    "Cluster",
    [
      "Available True Available",
      "ControlPlaneAvailable True Available",
      "ControlPlaneInitialized True Initialized",
      "ControlPlaneMachinesReady True Ready",
      "ControlPlaneMachinesUpToDate True UpToDate",
      "Deleting False NotDeleting",
      "InfrastructureReady True Ready",
      "Paused False NotPaused",
      "Remediating False NotRemediating",
      "RemoteConnectionProbe True ProbeSucceeded",
      "RollingOut False NotRollingOut",
      "ScalingDown False NotScalingDown",
      "ScalingUp False NotScalingUp",
      "WorkerMachinesReady True Ready",
      "WorkerMachinesUpToDate True UpToDate",
      "WorkersAvailable True Available",
    ],
  ],
  [
    "KubeadmConfig of the control plane",
    ["CertificatesAvailable True Available", "DataSecretAvailable True Available", "Paused False NotPaused", "Ready True Ready"],
  ],
  [
    "KubeadmConfig of a worker",
    ["CertificatesAvailable True Available", "DataSecretAvailable True Available", "Paused False NotPaused", "Ready True Ready"],
  ],
  [
    "KubeadmControlPlane",
    [
      "Available True Available",
      "CertificatesAvailable True Available",
      "ControlPlaneComponentsHealthy True Healthy",
      "Deleting False NotDeleting",
      "EtcdClusterHealthy True Healthy",
      "Initialized True Initialized",
      "MachinesReady True Ready",
      "MachinesUpToDate True UpToDate",
      "Paused False NotPaused",
      "Remediating False NotRemediating",
      "RollingOut False NotRollingOut",
      "ScalingDown False NotScalingDown",
      "ScalingUp False NotScalingUp",
    ],
  ],
  [
    "Machine of the control plane",
    [
      "APIServerPodHealthy True Running",
      "Available True Available",
      "BootstrapConfigReady True Ready",
      "ControllerManagerPodHealthy True Running",
      "Deleting False NotDeleting",
      "EtcdMemberHealthy True Healthy",
      "EtcdPodHealthy True Running",
      "InfrastructureReady True Ready",
      "NodeHealthy True NodeHealthy",
      "NodeKubeadmLabelsAndTaintsSet True Set",
      "NodeReady True NodeReady",
      "Paused False NotPaused",
      "Ready True Ready",
      "SchedulerPodHealthy True Running",
      "UpToDate True UpToDate",
      "Updating False NotUpdating",
    ],
  ],
  [
    "Machine of a worker",
    [
      "Available True Available",
      "BootstrapConfigReady True Ready",
      "Deleting False NotDeleting",
      "InfrastructureReady True Ready",
      "NodeHealthy True NodeHealthy",
      "NodeReady True NodeReady",
      "Paused False NotPaused",
      "Ready True Ready",
      "UpToDate True UpToDate",
      "Updating False NotUpdating",
    ],
  ],
  [
    "MachineDeployment",
    [
      "Available True Available",
      "Deleting False NotDeleting",
      "MachinesReady True Ready",
      "MachinesUpToDate True UpToDate",
      "Paused False NotPaused",
      "Remediating False NotRemediating",
      "RollingOut False NotRollingOut",
      "ScalingDown False NotScalingDown",
      "ScalingUp False NotScalingUp",
    ],
  ],
  [
    "MachineSet",
    [
      "Deleting False NotDeleting",
      "MachinesReady True Ready",
      "MachinesUpToDate True UpToDate",
      "Paused False NotPaused",
      "Remediating False NotRemediating",
      "ScalingDown False NotScalingDown",
      "ScalingUp False NotScalingUp",
    ],
  ],
];

let world: CapiWorld;

beforeAll(async () => {
  world = await provisioned();
});
afterAll(() => world.end());

test.each(REAL)("%s has the conditions of the real one", async (kind, want) => {
  const [name = "", role] = kind.split(" of ");
  const objects = await world.all(name);
  const object = objects.find(({ metadata }) => role === undefined || metadata.name.startsWith(role === "a worker" ? "c1-md" : "c1-cp"));
  const found = object === undefined ? [] : conditionsOf(object).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  expect(found.toSorted()).toEqual(want);
});
