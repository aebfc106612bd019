/**
 * The IPC channel of a process that `lattice up` started. The process ends with the supervisor, however that ends: a closed channel stops the
 * command as a signal does, and ends the process if the command takes too long.
 */
import type { SupervisorChannel } from "#cli";

export type ChannelPorts = {
  readonly process: Pick<NodeJS.Process, "on" | "once" | "send" | "connected">;
  /** Stops the command in order. */
  readonly stop: () => void;
  readonly exit: (code: number) => void;
};

/** Nothing of the fleet runs 5 seconds after its supervisor; a busy process notices the closed channel late. */
const END_WITHIN_MS = 1_000;
const TERMINATED = 143;

/** Undefined: this process has no supervisor. Called before anything else is loaded, so that no message is missed. */
export function openSupervisorChannel({ process, stop, exit }: ChannelPorts): SupervisorChannel | undefined {
  if (process.send === undefined) return undefined;
  const gone = () => {
    setTimeout(() => exit(TERMINATED), END_WITHIN_MS).unref();
    stop();
  };
  if (process.connected) process.once("disconnect", gone);
  else gone();
  return {
    // an error means that the channel is closed: "disconnect" follows
    send: (message) => void (process.connected && process.send?.(message, undefined, {}, () => {})),
    receive: (listener) => void process.on("message", listener),
  };
}
