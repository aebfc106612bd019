/**
 * Simulated nodes for an embedded cluster. `createSimulation` returns the controllers that simulate a scheduler and kubelets, and
 * handles to inject faults.
 */
import type { KubeController } from "../context.ts";
import { FaultList } from "./faults/fault.ts";
import { kubelet } from "./kubelet/kubelet.ts";
import { loadBalancers } from "./load-balancers.ts";
import { firstNodes } from "./machines/first-nodes.ts";
import { nodeHeartbeat } from "./machines/heartbeat.ts";
import { Machines } from "./machines/machines.ts";
import { DEFAULT_SPEEDS, simulatedNodes, type SimulationOptions, type Speeds } from "./options.ts";
import { scheduler } from "./scheduler/scheduler.ts";
import { DeclaredUsage } from "./usage.ts";
import { volumes } from "./volumes.ts";

/** Simulated nodes, and handles to inject faults. */
export type Simulation = {
  /** For `startKubeControllers({ simulation })`. One simulation drives one cluster. */
  readonly controllers: readonly KubeController[];
  readonly nodes: {
    /** The simulated nodes: every Node with the label `simulation.lattice.dev/node: "true"`. */
    readonly names: readonly string[];
    /**
     * Stops a node without warning; false when there is no such node. It is detected after 50 seconds without heartbeats. It lasts as long as
     * this simulation; the label or annotation `simulation.lattice.dev/stopped: "true"` on the Node also survives a restart.
     */
    readonly stop: (name: string) => boolean;
    /** Ends a `stop`. */
    readonly start: (name: string) => boolean;
  };
  readonly faults: FaultList;
  /** Also the autoscaler's source of metrics. */
  readonly usage: DeclaredUsage;
};

export function createSimulation(options: SimulationOptions = {}): Simulation {
  const wanted = simulatedNodes(options.nodes);
  const machines = new Machines(wanted.map(({ name }) => name));
  const speeds: Speeds = { ...DEFAULT_SPEEDS, ...options.speeds };
  const faults = new FaultList(options.faults);
  return {
    controllers: [
      nodeHeartbeat({ machines, speeds }),
      firstNodes({ machines, wanted }),
      scheduler,
      kubelet({ machines, circumstances: { faults, speeds }, processes: options.podProcesses }),
      ...(options.loadBalancers === false ? [] : [loadBalancers]),
      ...(options.volumes === false ? [] : [volumes]),
    ],
    nodes: {
      get names() {
        return machines.names;
      },
      stop: (name) => machines.stop(name),
      start: (name) => machines.start(name),
    },
    faults,
    usage: new DeclaredUsage(),
  };
}
