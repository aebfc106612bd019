import { describe, expect, test } from "vitest";
import { judge } from "./health-check/health.ts";
import { startParts } from "./infrastructure/dev-machine-parts.ts";
import { planRemediation, type RemediationInput } from "./machine-set/remediation.ts";
import { REVISION_ANNOTATION } from "./names.ts";
import type { CapiObject } from "./objects.ts";

const AT = "2026-01-01T00:00:00Z";
const condition = (type: string, status: string, reason = "Test") => ({ type, status, reason, message: "", lastTransitionTime: AT });
const object = (kind: string, name: string, rest: Partial<CapiObject> = {}): CapiObject => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind,
  metadata: { name, creationTimestamp: AT },
  ...rest,
});
const revision = (at: string) => ({ metadata: { name: "a", annotations: { [REVISION_ANNOTATION]: at } } });

describe("a MachineSet replaces unhealthy machines", () => {
  const sick = (name: string) =>
    object("Machine", name, {
      status: { conditions: [condition("HealthCheckSucceeded", "False"), condition("OwnerRemediated", "False")] },
    });
  const going = (name: string): CapiObject => ({
    ...object("Machine", name, { status: { conditions: [condition("OwnerRemediated", "False", "MachineDeleting")] } }),
    metadata: { name, creationTimestamp: AT, deletionTimestamp: AT },
  });
  const base: RemediationInput = {
    set: object("MachineSet", "a", revision("1")),
    deployment: object("MachineDeployment", "a", { ...revision("1"), spec: { replicas: 4 } }),
    machines: [sick("a"), object("Machine", "b"), sick("c")],
    blocked: [],
  };
  const limited = object("MachineDeployment", "a", { ...revision("1"), spec: { replicas: 4, remediation: { maxInFlight: 1 } } });
  const rows: readonly { readonly name: string; readonly input: Partial<RemediationInput>; readonly want: readonly string[] }[] = [
    { name: "all at once, the newest first", input: {}, want: ["c MachineDeleting", "a MachineDeleting"] },
    { name: "at most maxInFlight", input: { deployment: limited }, want: ["c MachineDeleting", "a RemediationDeferred"] },
    {
      name: "none while maxInFlight machines are going",
      input: { deployment: limited, machines: [sick("a"), going("b")] },
      want: ["a RemediationDeferred"],
    },
    { name: "none while the control plane changes", input: { blocked: ["x"], machines: [sick("a")] }, want: ["a RemediationDeferred"] },
    {
      name: "none of an old revision",
      input: { set: object("MachineSet", "a", revision("0")), machines: [sick("a")] },
      want: ["a CannotBeRemediated"],
    },
    { name: "without a MachineDeployment", input: { deployment: undefined, machines: [sick("a")] }, want: ["a MachineDeleting"] },
  ];
  test.each(rows)("$name", ({ input, want }) => {
    expect(planRemediation({ ...base, ...input }).map(([{ metadata }, { reason }]) => `${metadata.name} ${reason}`)).toEqual(want);
  });
});

describe("a health check", () => {
  const ready = [condition("InfrastructureReady", "True"), condition("ControlPlaneInitialized", "True")];
  const input = { machine: object("Machine", "m"), node: undefined, checks: {}, now: Date.parse(AT) + 60_000 };
  test.each([
    { name: "judges no worker before the control plane is initialized", conditions: [ready[0]], checks: {}, want: "unchecked" },
    { name: "waits for the first Node", conditions: ready, checks: {}, want: "pending" },
    { name: "finds a machine without a Node unhealthy", conditions: ready, checks: { nodeStartupTimeoutSeconds: 30 }, want: "unhealthy" },
    { name: "waits for ever where the startup time is 0", conditions: ready, checks: { nodeStartupTimeoutSeconds: 0 }, want: "unchecked" },
  ])("$name", ({ conditions, checks, want }) => {
    const cluster = object("Cluster", "c", { status: { conditions: conditions.flatMap((one) => one ?? []) } });
    expect(judge({ ...input, cluster, checks }).kind).toBe(want);
  });
});

describe("a DevMachine starts", () => {
  const startup = { provisioning: { startupDuration: "10s" } };
  const spec = { backend: { inMemory: { vm: startup, node: startup, etcd: startup, apiServer: startup } } };
  const machine = (...conditions: ReturnType<typeof condition>[]) => object("DevMachine", "m", { spec, status: { conditions } });
  const input = { now: Date.parse(AT) + 10_000, dataSince: Date.parse(AT), controlPlane: true, waiting: undefined, bootstrapped: false };
  const reasons = (parts: ReturnType<typeof startParts>) => parts.conditions.map(({ reason }) => reason);
  const STARTING = "WaitingForStartupTimeout";
  test.each([
    {
      name: "not before it has bootstrap data",
      given: machine(),
      input: { waiting: "WaitingForBootstrapData" },
      want: ["WaitingForBootstrapData", "WaitingForVMProvisioned", "WaitingForVMProvisioned", "WaitingForVMProvisioned"],
    },
    {
      name: "with its VM, and then its Node",
      given: machine(),
      input: {},
      want: ["Provisioned", STARTING, "WaitingForNodeProvisioned", "WaitingForNodeProvisioned"],
    },
    {
      name: "etcd and the API server after its Node",
      given: machine(condition("VMProvisioned", "True")),
      input: {},
      want: ["Provisioned", "Provisioned", STARTING, STARTING],
    },
    {
      name: "at once if it has run before",
      given: machine(),
      input: { bootstrapped: true },
      want: ["Provisioned", "Provisioned", "Provisioned", "Provisioned"],
    },
  ])("$name", ({ given, input: rest, want }) => {
    expect(reasons(startParts(given, { ...input, ...rest }))).toEqual(want);
  });
});
