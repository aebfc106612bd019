/** What can be set about the simulation, and what it is otherwise. */
import type { ResourceList, Taint } from "#kube";
import type { Fault } from "./faults/fault.ts";

/** All on the injected clock. The defaults are short: simulated work needs no real time. */
export type Speeds = {
  /** From the node having the Pod to its containers running: image, network, start. */
  readonly startMs: number;
  /** How long an init container runs. */
  readonly initMs: number;
  /** How long a container runs that is meant to end: of Pods with restartPolicy Never or OnFailure. */
  readonly runMs: number;
  /** From being asked to stop to being gone; never longer than the grace period. */
  readonly stopMs: number;
  /** Probe delays are multiplied by it: 1 is what the manifest says, 0 is at once. */
  readonly probeScale: number;
  /** Waits between restarts and between pulls: 10 s, 20 s, 40 s … 5 min as kubelets do it. */
  readonly restartBackoff: { readonly initialMs: number; readonly maxMs: number };
  readonly heartbeatMs: number;
};

export const DEFAULT_SPEEDS: Speeds = {
  startMs: 20,
  initMs: 20,
  runMs: 50,
  stopMs: 20,
  probeScale: 1,
  restartBackoff: { initialMs: 10_000, maxMs: 300_000 },
  heartbeatMs: 10_000,
};

/** A node that is played. */
export type SimulatedNode = {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly capacity?: ResourceList;
};

/** As many Pods as the controllers create by default (`DEFAULT_POD_LIMIT`); a real node takes 110. */
export const DEFAULT_CAPACITY: ResourceList = { cpu: "64", memory: "256Gi", "ephemeral-storage": "1Ti", pods: "5000" };

/** What is played, and how fast. */
export type SimulationOptions = {
  /** Absent: one, `lattice-node-1`. A number: so many of them. */
  readonly nodes?: number | readonly SimulatedNode[];
  readonly speeds?: Partial<Speeds>;
  readonly faults?: readonly Fault[];
  /** Services of type LoadBalancer get an address. On unless switched off. */
  readonly loadBalancers?: boolean;
  /** Claims get volumes, from StorageClass `standard`. On unless switched off. */
  readonly volumes?: boolean;
};

export function simulatedNodes(nodes: SimulationOptions["nodes"]): readonly SimulatedNode[] {
  if (typeof nodes === "object") return nodes;
  return Array.from({ length: nodes ?? 1 }, (_, index) => ({ name: `lattice-node-${index + 1}` }));
}
