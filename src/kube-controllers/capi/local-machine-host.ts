/** The port behind kind LocalMachine: machines of this computer, which a higher layer runs as processes. */

/** Runs local machines; `states` is what is known of them. */
export type LocalMachineHost = {
  /** Idempotent: called at every pass. */
  readonly ensure: (machine: LocalMachineRun) => void;
  /** Ends the machine and deletes what it left. Its state is absent when that is done. */
  readonly remove: (id: string) => void;
  /** By id. */
  readonly states: () => ReadonlyMap<string, LocalMachineState>;
  /** Calls the listener after every change of a state; the returned function ends it. */
  readonly subscribe: (listener: (id: string) => void) => () => void;
};

/** A machine that is to run, from its LocalMachine and its bootstrap Secret. */
export type LocalMachineRun = {
  /** The uid of the LocalMachine. */
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly controlPlane: boolean;
  readonly version: string;
  /** cloud-config. */
  readonly bootstrapData: string;
};

/** running: its Node is registered, or its commands have succeeded. failed: it is tried again; `message` is why. */
export type LocalMachineState = {
  readonly phase: "starting" | "running" | "failed" | "stopped";
  readonly message?: string;
  readonly nodeName?: string;
};
