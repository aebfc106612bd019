/**
 * The state of a cluster's Cluster API objects, as Lattice reports it. Read from status fields and conditions of the v1beta2 contract; an absent
 * field means that Cluster API has not reported yet.
 */
import { millisecondsOf } from "#base";
import { poolName } from "#cluster-compiler";
import { conditionsOf } from "#controller-runtime";
import { fieldAt, findCondition, type KubeObject } from "#kube";

export type PoolView = { readonly desired: number; readonly ready: number };

/** Undefined: not reported. */
export type CapiReport = { readonly available: boolean; readonly message: string } | undefined;

export type CapiView = {
  /** Whether the Cluster exists. */
  readonly exists: boolean;
  /** host:port of the API server, as Cluster API has it. */
  readonly endpoint: string | undefined;
  readonly infrastructure: CapiReport;
  readonly controlPlane: CapiReport;
  readonly workers: CapiReport;
  /** Of the control plane, which is upgraded first. */
  readonly kubernetesVersion: string | undefined;
  readonly controlPlanePool: PoolView | undefined;
  readonly pools: ReadonlyMap<string, PoolView>;
  readonly machines: number;
  readonly runningMachines: number;
  /** Names with messages, of machines in phase Failed. */
  readonly failedMachines: readonly string[];
  /** When a machine was created or last advanced, in milliseconds. */
  readonly progressAt: number | undefined;
};

export type CapiObjects = {
  readonly cluster: KubeObject | undefined;
  readonly controlPlane: KubeObject | undefined;
  readonly machineDeployments: readonly KubeObject[];
  readonly machines: readonly KubeObject[];
};

/** The cluster, and the pools of its spec. */
export type CapiViewInput = { readonly name: string; readonly pools: readonly string[] };

export function capiViewOf({ name, pools }: CapiViewInput, { cluster, controlPlane, machineDeployments, machines }: CapiObjects): CapiView {
  const running = machines.filter((machine) => fieldAt(machine, "status", "phase") === "Running");
  return {
    exists: cluster !== undefined,
    endpoint: endpointOf(cluster),
    infrastructure: reportOf(cluster, "InfrastructureReady"),
    controlPlane: reportOf(cluster, "ControlPlaneAvailable"),
    workers: reportOf(cluster, "WorkersAvailable"),
    kubernetesVersion: textAt(controlPlane, "status", "version"),
    controlPlanePool: controlPlane === undefined ? undefined : poolOf(controlPlane),
    pools: new Map(machineDeployments.map((deployment) => [poolOfName(deployment.metadata.name, name, pools), poolOf(deployment)])),
    machines: machines.length,
    runningMachines: running.length,
    failedMachines: machines.filter((machine) => fieldAt(machine, "status", "phase") === "Failed").map(({ metadata }) => metadata.name),
    progressAt: latest(machines.flatMap(progressTimes)),
  };
}

function reportOf(object: KubeObject | undefined, type: string): CapiReport {
  const condition = findCondition(conditionsOf(fieldAt(object, "status")), type);
  if (condition === undefined || condition.status === "Unknown") return undefined;
  return { available: condition.status === "True", message: condition.message };
}

function endpointOf(cluster: KubeObject | undefined): string | undefined {
  const [host, port] = ["host", "port"].map((name) => fieldAt(cluster, "spec", "controlPlaneEndpoint", name));
  if (typeof host !== "string" || host === "" || typeof port !== "number") return undefined;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The pool whose MachineDeployment this is; long names are cut, so that only the compiler's own name identifies it. */
function poolOfName(name: string, cluster: string, pools: readonly string[]): string {
  const declared = pools.find((pool) => poolName(cluster, pool) === name);
  return declared ?? (name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : name);
}

function poolOf(object: KubeObject): PoolView {
  return { desired: countAt(object, "spec", "replicas"), ready: countAt(object, "status", "readyReplicas") };
}

/** Creation, and the last change of its phase. A condition that flaps is no progress. */
function progressTimes(machine: KubeObject): readonly number[] {
  const times = [machine.metadata.creationTimestamp, textAt(machine, "status", "lastUpdated")];
  return times.flatMap((text) => (text === undefined ? [] : [millisecondsOf(text)])).filter(Number.isFinite);
}

function latest(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.max(...times);
}

function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = fieldAt(object, ...path);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function countAt(object: unknown, ...path: readonly string[]): number {
  const value = fieldAt(object, ...path);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;
}
