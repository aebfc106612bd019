/**
 * The machines of an API server, which the supervisor runs. In the API-server process: requests are messages, and states are what the
 * supervisor reported.
 */
import { sha256Hex } from "#base";
import type { LocalMachineHost, LocalMachineRun, LocalMachineState } from "#kube-controllers";
import type { FromApiServer, MachineReport, ToApiServer } from "../messages/messages.ts";

export type MachineHostOptions = {
  /** From the first message of the supervisor. */
  readonly machines: readonly MachineReport[];
  readonly send: (message: FromApiServer) => void;
};

export class FleetMachineHost implements LocalMachineHost {
  readonly #send: MachineHostOptions["send"];
  /** By id. */
  readonly #states: Map<string, LocalMachineState>;
  /** By id: digests of requests. The supervisor keeps them, so that one message is enough. */
  readonly #requested = new Map<string, string>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor({ machines, send }: MachineHostOptions) {
    this.#send = send;
    this.#states = new Map(machines.map((machine) => [machine.id, stateOf(machine)]));
  }

  readonly ensure = (machine: LocalMachineRun): void => {
    const digest = sha256Hex(JSON.stringify(machine));
    if (this.#requested.get(machine.id) === digest) return;
    this.#requested.set(machine.id, digest);
    this.#send({ kind: "machine-ensure", machine });
  };

  readonly remove = (id: string): void => {
    this.#requested.delete(id);
    this.#send({ kind: "machine-remove", id });
  };

  readonly states = (): ReadonlyMap<string, LocalMachineState> => this.#states;

  readonly subscribe = (listener: (id: string) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  update(message: Extract<ToApiServer, { kind: "machine-state" | "machine-gone" }>): void {
    const id = message.kind === "machine-gone" ? message.id : message.machine.id;
    if (message.kind === "machine-gone") {
      this.#states.delete(id);
      this.#requested.delete(id); // one that is requested again is made again
    } else this.#states.set(id, stateOf(message.machine));
    for (const listener of this.#listeners) listener(id);
  }
}

function stateOf({ phase, message, nodeName }: MachineReport): LocalMachineState {
  return { phase, ...(message === undefined ? {} : { message }), ...(nodeName === undefined ? {} : { nodeName }) };
}
