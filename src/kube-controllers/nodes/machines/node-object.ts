/** A Node as the simulation creates it, and what its kubelet reports. Pure. */
import { parseQuantity, type Node, type NodeCondition, type ResourceList } from "#kube";
import { PREFIX } from "../faults/annotations.ts";
import { DEFAULT_CAPACITY, type SimulatedNode } from "../options.ts";
import { NODE_LABEL, type Machine } from "./machine.ts";

/** A node of the options. Its capacity is part of the status: a client may give it when it creates a Node. */
export function nodeObject({ name, labels, taints, capacity: own, version }: SimulatedNode): Node {
  const capacity = { ...DEFAULT_CAPACITY, ...own };
  const annotations = version === undefined ? {} : { annotations: { [`${PREFIX}version`]: version } };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...kubeletLabels(name), [NODE_LABEL]: "true", ...labels }, ...annotations },
    spec: taints === undefined ? {} : { taints },
    status: { capacity, allocatable: capacity },
  };
}

function kubeletLabels(name: string): Readonly<Record<string, string>> {
  return {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
  };
}

/** Labels that a kubelet adds when it registers its Node; those that the Node has already are kept. */
export function missingLabels({ metadata: { name, labels = {} } }: Node): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(kubeletLabels(name)).filter(([label]) => !Object.hasOwn(labels, label)));
}

/** Whether a kubelet has reported the state of this Node before. */
export function isRegistered({ status }: Node): boolean {
  return kubeletVersion(status) !== "";
}

export function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
}

export function nodeStatus(node: Node, machine: Machine, address: string, now: string): NonNullable<Node["status"]> {
  const { labels = {} } = node.metadata;
  return {
    capacity: machine.capacity,
    allocatable: machine.allocatable,
    conditions: healthyConditions(node.status?.conditions ?? [], now),
    addresses: addressesOf(node, address),
    nodeInfo: {
      machineID: machine.uid,
      systemUUID: machine.uid,
      bootID: machine.uid,
      kernelVersion: "simulated",
      osImage: "Lattice simulation",
      containerRuntimeVersion: "simulated://1.0",
      kubeletVersion: machine.version,
      kubeProxyVersion: "",
      operatingSystem: labels["kubernetes.io/os"] ?? "linux",
      architecture: labels["kubernetes.io/arch"] ?? "amd64",
    },
  };
}

function addressesOf(node: Node, address: string): NonNullable<NonNullable<Node["status"]>["addresses"]> {
  const known = node.status?.addresses ?? [];
  if (internalAddress(node) === address) return known;
  const others = known.filter(({ type }) => type !== "InternalIP" && type !== "Hostname");
  return [{ type: "InternalIP", address }, { type: "Hostname", address: node.metadata.name }, ...others];
}

const REPORTED_CONDITIONS = [
  { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available" },
  { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure" },
  { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available" },
  { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
] as const;

/** The transition time stays if the status does. Conditions of other clients stay. */
function healthyConditions(known: readonly NodeCondition[], now: string): readonly NodeCondition[] {
  const others = known.filter(({ type }) => !REPORTED_CONDITIONS.some((reported) => reported.type === type));
  const own = REPORTED_CONDITIONS.map((reported) => {
    const before = known.find(({ type }) => type === reported.type);
    const lastTransitionTime = before?.status === reported.status ? (before.lastTransitionTime ?? now) : now;
    return { ...reported, lastHeartbeatTime: now, lastTransitionTime };
  });
  return [...others, ...own];
}

/** Whether the Node already has the status of this machine; heartbeat times do not count. */
export function isReported({ status }: Node, { version, capacity, allocatable }: Machine): boolean {
  const isHealthy = REPORTED_CONDITIONS.every((reported) =>
    status?.conditions?.some(
      ({ type, status: truth, reason }) => type === reported.type && truth === reported.status && reason === reported.reason,
    ),
  );
  return (
    isHealthy &&
    kubeletVersion(status) === version &&
    sameAmounts(capacity, status?.capacity ?? {}) &&
    sameAmounts(allocatable, status?.allocatable ?? {})
  );
}

function kubeletVersion(status: Node["status"]): unknown {
  return status?.nodeInfo?.["kubeletVersion"] ?? "";
}

/** The server writes "3000m" as "3". */
function sameAmounts(wanted: ResourceList, known: ResourceList): boolean {
  return Object.entries(wanted).every(([name, amount]) => {
    const text = Object.hasOwn(known, name) ? known[name] : undefined;
    if (text === amount) return true;
    const [a, b] = [parseQuantity(amount), parseQuantity(text ?? "")];
    return a.ok && b.ok && a.value === b.value;
  });
}
