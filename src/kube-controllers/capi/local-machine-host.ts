/**
 * The port to whatever runs local machines: a folder and processes on this computer. The simulator decides which machines exist; the host runs
 * their bootstrap data.
 */
export type LocalMachineHost = {
  /**
   * Starts the machine if it does not run. Called again after every restart of the controllers: it must be safe to repeat. A machine whose objects
   * were moved from another cluster has a new id and the same namespace and name.
   */
  readonly ensure: (machine: LocalMachineRun) => void;
  /** Stops the machine and deletes its folder. Its state is removed, or becomes "stopped". */
  readonly remove: (id: string) => void;
  readonly states: () => ReadonlyMap<string, LocalMachineState>;
  /** Calls back with the id of a machine whose state changed; the returned function ends it. */
  readonly subscribe: (listener: (id: string) => void) => () => void;
};

/** A local machine that should run. */
export type LocalMachineRun = {
  /** The uid of the LocalMachine. */
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly controlPlane: boolean;
  readonly version: string;
  /** cloud-config. It contains keys: never log it. */
  readonly bootstrapData: string;
};

/** running: its Node is registered, or its commands have succeeded. failed: it is tried again; `message` is why. */
export type LocalMachineState = {
  readonly phase: "starting" | "running" | "failed" | "stopped";
  readonly message?: string;
  readonly nodeName?: string;
};
