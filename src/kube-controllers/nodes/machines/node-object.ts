/** A Node as its kubelet registers it, and the conditions that it reports. */
import type { Node, NodeCondition } from "#kube";
import { DEFAULT_CAPACITY, type SimulatedNode } from "../options.ts";

export function nodeObject({ name, labels, taints }: SimulatedNode): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        ...labels,
      },
      annotations: { "simulation.lattice.dev/node": "true" },
    },
    spec: taints === undefined ? {} : { taints },
  };
}

export function nodeStatus(node: SimulatedNode, address: string, conditions: readonly NodeCondition[]): NonNullable<Node["status"]> {
  const capacity = { ...DEFAULT_CAPACITY, ...node.capacity };
  return {
    capacity,
    allocatable: capacity,
    conditions,
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: node.name },
    ],
    nodeInfo: {
      machineID: node.name,
      systemUUID: node.name,
      bootID: node.name,
      kernelVersion: "simulated",
      osImage: "Lattice simulation",
      containerRuntimeVersion: "simulated://1.0",
      kubeletVersion: "v1.36.3",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  };
}

const REPORTED_CONDITIONS = [
  { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available" },
  { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure" },
  { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available" },
  { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
] as const;

/** The transition time stays if the status does. */
export function healthyConditions(known: readonly NodeCondition[], now: string): readonly NodeCondition[] {
  return REPORTED_CONDITIONS.map((reported) => {
    const before = known.find(({ type }) => type === reported.type);
    const lastTransitionTime = before?.status === reported.status ? (before.lastTransitionTime ?? now) : now;
    return { ...reported, lastHeartbeatTime: now, lastTransitionTime };
  });
}

/** Whether the Node already has the conditions of a healthy one; heartbeat times do not count. */
export function saysHealthy({ status }: Node): boolean {
  return REPORTED_CONDITIONS.every((reported) =>
    status?.conditions?.some(
      ({ type, status: truth, reason }) => type === reported.type && truth === reported.status && reason === reported.reason,
    ),
  );
}
