import { expect, test } from "vitest";
import { capiViewOf } from "./capi-view.ts";

const object = (name: string, fields: object) => ({ apiVersion: "v1", kind: "Any", metadata: { name, namespace: "capi-prod" }, ...fields });
const condition = (type: string, status: string, message = "") => ({
  type,
  status,
  message,
  reason: "R",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

test("without objects nothing is reported", () => {
  const view = capiViewOf(
    { name: "prod", pools: ["default"] },
    { cluster: undefined, controlPlane: undefined, machineDeployments: [], machines: [] },
  );
  expect(view).toMatchObject({ exists: false, endpoint: undefined, infrastructure: undefined, progressAt: undefined, machines: 0 });
});

test("phases, replicas, conditions and times are read from the objects of Cluster API", () => {
  const machine = (name: string, phase: string, lastUpdated?: string) => ({
    ...object(name, { status: { phase, lastUpdated } }),
    metadata: { name, namespace: "capi-prod", creationTimestamp: "2026-01-01T10:00:00Z" },
  });
  const view = capiViewOf(
    { name: "prod", pools: ["default"] },
    {
      cluster: object("prod", {
        spec: { controlPlaneEndpoint: { host: "fd00::1", port: 6443 } },
        status: {
          conditions: [
            condition("InfrastructureReady", "True"),
            condition("ControlPlaneAvailable", "False", "1 of 3"),
            condition("WorkersAvailable", "Unknown"),
          ],
        },
      }),
      controlPlane: object("prod-control-plane", { spec: { replicas: 3 }, status: { readyReplicas: 1, version: "v1.36.3" } }),
      machineDeployments: [
        object("prod-default", { spec: { replicas: 2 }, status: { readyReplicas: 1 } }),
        object("other", { spec: {}, status: { readyReplicas: -1 } }),
      ],
      machines: [machine("a", "Running", "2026-01-01T10:05:00Z"), machine("b", "Failed", "yesterday"), machine("c", "Pending")],
    },
  );
  expect(view).toEqual({
    exists: true,
    endpoint: "[fd00::1]:6443",
    infrastructure: { available: true, message: "" },
    controlPlane: { available: false, message: "1 of 3" },
    workers: undefined,
    kubernetesVersion: "v1.36.3",
    controlPlanePool: { desired: 3, ready: 1 },
    pools: new Map([
      ["default", { desired: 2, ready: 1 }],
      ["other", { desired: 0, ready: 0 }],
    ]),
    machines: 3,
    runningMachines: 1,
    failedMachines: ["b"],
    progressAt: Date.UTC(2026, 0, 1, 10, 5),
  });
});
