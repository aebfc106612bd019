/** The options of the simulation and their defaults. */
import type { ResourceList, Taint } from "#kube";
import type { Fault } from "./faults/fault.ts";
import type { PodProcesses } from "./pod-processes.ts";

/** All on the injected clock. The defaults are short: simulated work needs no real time. */
export type Speeds = {
  /** From the binding of the Pod to its running containers: image, network, start. */
  readonly startMs: number;
  /** How long an init container runs. */
  readonly initMs: number;
  /** How long a container runs that runs to completion: of Pods with restartPolicy Never or OnFailure. */
  readonly runMs: number;
  /** From SIGTERM to the exit; never longer than the grace period. */
  readonly stopMs: number;
  /** Factor of probe delays: 1 is as in the manifest, 0 is no delay. */
  readonly probeScale: number;
  /** Back-off between restarts and between pulls: 10 s, 20 s, 40 s … 5 min as in kubelets. */
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

/** A node that is created when the cluster starts for the first time. */
export type SimulatedNode = {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly capacity?: ResourceList;
  /** The kubelet's version. Default: v1.36.3. */
  readonly version?: string;
};

/** As many Pods as the controllers create by default (`DEFAULT_POD_LIMIT`); a real node takes 110. */
export const DEFAULT_CAPACITY: ResourceList = { cpu: "64", memory: "256Gi", "ephemeral-storage": "1Ti", pods: "5000" };

/** The kubelet's version that a node reports. */
export const DEFAULT_VERSION = "v1.36.3";

/** The simulated components, and their speed. */
export type SimulationOptions = {
  /**
   * The nodes of a cluster that starts for the first time. Absent: one, `lattice-node-1`. A number: as many. After that the Node objects
   * count: nodes are created and deleted through the API, and a restart does not create a deleted one again.
   */
  readonly nodes?: number | readonly SimulatedNode[];
  readonly speeds?: Partial<Speeds>;
  readonly faults?: readonly Fault[];
  /** Services of type LoadBalancer get an address. Default: true. */
  readonly loadBalancers?: boolean;
  /** Claims get volumes, from StorageClass `standard`. Default: true. */
  readonly volumes?: boolean;
  /** Runs some Pods as processes; all others are simulated. */
  readonly podProcesses?: PodProcesses;
};

export function simulatedNodes(nodes: SimulationOptions["nodes"]): readonly SimulatedNode[] {
  if (typeof nodes === "object") return nodes;
  return Array.from({ length: nodes ?? 1 }, (_, index) => ({ name: `lattice-node-${index + 1}` }));
}
