/**
 * The fleet as its users see it: the clusters of this machine, each with an API-server process and the processes of its operator.
 *
 * One process, the supervisor, holds it. Every other process is its direct child and ends with it.
 */
import type { Clock, Logger, Result } from "#base";

/** How a Lattice process is started: `node ...args COMMAND`. Never through a shell or `./lattice`. */
export type LatticeProgram = { readonly node: string; readonly args: readonly string[] };

/** Absolute paths. The clusters are in folders of their own, see `ClusterFolder`. */
export type FleetFolder = {
  readonly path: string;
  /** up.json: the process of the supervisor. */
  readonly record: string;
  /** fleet.json: written for users, never read. */
  readonly state: string;
  /** The management cluster's. */
  readonly kubeconfig: string;
  readonly clusters: string;
};

export type ClusterFolder = {
  readonly path: string;
  /** cluster.json: what a restart of the supervisor needs to know, such as the parent. */
  readonly settings: string;
  readonly data: string;
  readonly kubeconfig: string;
  readonly logs: string;
  /** The folders of nodes, with those of their Pods that run as processes. */
  readonly machines: string;
};

export type FleetCluster = { readonly name: string; readonly parent?: string | undefined };

/**
 * - Starting: its API server has not been ready yet.
 * - Running: its API server accepts requests.
 * - Restarting: its API server ended and is started again; its kubeconfig stays valid.
 * - Stopping, Stopped: on request; it stays stopped when the supervisor starts again.
 */
export type ClusterState = "Starting" | "Running" | "Restarting" | "Stopping" | "Stopped";

/** A replica of Deployment lattice-system/lattice-operator. */
export type OperatorProcess = {
  readonly pod: string;
  /** Absent while it waits for its next start. */
  readonly pid?: number | undefined;
  readonly ready: boolean;
  /** Address of health and metrics. */
  readonly health?: string | undefined;
};

export type ClusterView = {
  readonly name: string;
  /** Absent for the root. */
  readonly parent?: string | undefined;
  readonly kubeconfig: string;
  readonly url?: string | undefined;
  /** The API server and its operators; never the supervisor. */
  readonly pids: readonly number[];
  readonly state: ClusterState;
  /** Why it is not running: one sentence. */
  readonly message?: string | undefined;
  /** The port of its API server was taken; the kubeconfig has the new one. */
  readonly movedPort?: { readonly from: number; readonly to: number } | undefined;
  readonly operators: readonly OperatorProcess[];
  /** It is made of machines: its owner adds and removes it. */
  readonly bare?: boolean | undefined;
};

/** `identity`: the text of `ProcessTable.identify`. */
export type FleetProcess = { readonly pid: number; readonly identity: string };

export type FleetOptions = {
  readonly folder: FleetFolder;
  readonly program: LatticeProgram;
  /** Clusters that are in the folder from an earlier run are started too. */
  readonly clusters: readonly FleetCluster[];
  /** Its kubeconfig is that of the folder, once it runs. Absent: the first one of `clusters`. */
  readonly management?: string | undefined;
  /** Start with the intact part of damaged data. */
  readonly repair: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The supervisor's environment; processes get an allow-list of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends waiting for the start. `close` ends the fleet. */
  readonly signal: AbortSignal;
  /** The control socket, which machines use. Absent: the fleet has no machines. */
  readonly socket?: string | undefined;
  /** Called before `startFleet` resolves and at every change, with all processes of the fleet. */
  readonly onProcesses: (processes: readonly FleetProcess[]) => void;
};

export type Fleet = {
  /** The management cluster first. */
  readonly clusters: () => readonly ClusterView[];
  /** Resolves when the API server accepts requests; an error when it cannot start, or after the signal. */
  readonly untilRunning: (name: string, signal: AbortSignal) => Promise<Result<ClusterView, string>>;
  /** Starts a cluster that is not made of machines, and waits until it runs. One that exists already is not changed. */
  readonly add: (cluster: FleetCluster) => Promise<Result<ClusterView, string>>;
  /** Ends its processes and deletes its folder. Its children have no parent afterwards. Not for clusters that are made of machines. */
  readonly remove: (name: string) => Promise<Result<void, string>>;
  /** Ends the processes of a cluster; it stays stopped until `start`. The value is a sentence for the user. */
  readonly stop: (name: string) => Promise<Result<string, string>>;
  /** Resolves when the cluster runs again, with the same kubeconfig. */
  readonly start: (name: string) => Promise<Result<string, string>>;
  /** Answers a tool of a machine. */
  readonly machine: (request: MachineControlRequest) => Promise<Result<MachineView, string>>;
  /** Calls the listener after every change of `clusters`; the returned function ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Ends operators, then API servers, within 10 seconds. A second call waits for the first. */
  readonly close: () => Promise<void>;
};

export type StartFleet = (options: FleetOptions) => Promise<Result<Fleet, string>>;

/** From the tools of a machine; `token` identifies it. */
export type MachineControlRequest =
  /** Starts the API server of the cluster, unless it runs, and waits until it accepts requests. */
  | { readonly command: "machine-init"; readonly token: string; readonly cluster: string; readonly version: string }
  /** Waits until the API server of its cluster accepts requests. */
  | { readonly command: "machine-join"; readonly token: string }
  /** Its Node is registered. */
  | { readonly command: "machine-node"; readonly token: string; readonly node: string };

/** The machine that asks. `kubeconfig`: a file, of an administrator of its cluster. */
export type MachineView = {
  readonly name: string;
  readonly namespace: string;
  readonly cluster: string;
  readonly controlPlane: boolean;
  readonly version: string;
  readonly kubeconfig: string;
};

/** One line of JSON on the control socket. */
export type ControlRequest =
  | { readonly command: "stop" | "start"; readonly name: string }
  | { readonly command: "list" }
  | MachineControlRequest;

/** The response, in one line of JSON; `clusters` for `list`, `machine` for machines. */
export type ControlResponse =
  | {
      readonly ok: true;
      readonly message?: string | undefined;
      readonly clusters?: readonly ClusterView[] | undefined;
      readonly machine?: MachineView | undefined;
    }
  | { readonly ok: false; readonly error: string };
