/**
 * Starting a process, as a port.
 *
 * A process gets an IPC channel, by which it notices that the supervisor ended. It has a session of its own: Ctrl-C in a terminal, which
 * signals the whole group, reaches the supervisor alone, and the supervisor ends its processes in order.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { describeThrown, err, fromThrowing, nodeProcesses, ok, type Result } from "#base";

export type ProcessSpec = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type ProcessStream = "stdout" | "stderr";

export type ProcessHandlers = {
  readonly onOutput: (stream: ProcessStream, chunk: Uint8Array) => void;
  readonly onMessage: (message: unknown) => void;
  /** Once, also when the start fails. 128 + n: signal n ended it, as a shell reports it. `problem`: why it did not start. */
  readonly onExit: (exitCode: number, problem?: string) => void;
  /** After the exit, when its output is complete. */
  readonly onClosed: () => void;
};

export type SpawnedProcess = {
  readonly pid: number | undefined;
  /** False: the process has no channel any more. */
  readonly send: (message: unknown) => boolean;
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
};

/** An error when the start fails at once; handlers are not called then. */
export type SpawnProcess = (spec: ProcessSpec, handlers: ProcessHandlers) => Result<SpawnedProcess, string>;

/** The exit code of a shell for a command that cannot be started. */
export const NOT_STARTABLE = 127;
const SIGNALLED = 128;

export const spawnNodeProcess: SpawnProcess = ({ command, args, env, cwd }, handlers) => {
  const started = fromThrowing(
    () => spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe", "ipc"], detached: true, serialization: "json" }),
    describeThrown,
  );
  if (!started.ok) return err(started.error);
  const child = started.value;
  let exited = false;
  const exit = (exitCode: number, problem?: string) => {
    if (exited) return;
    exited = true;
    handlers.onExit(exitCode, problem);
  };
  for (const stream of ["stdout", "stderr"] as const) {
    // a pipe that breaks ends like any other
    child[stream]?.on("data", (chunk: Uint8Array) => handlers.onOutput(stream, chunk)).on("error", () => {});
  }
  child.on("message", (message) => handlers.onMessage(message));
  child.once("exit", (code, signal) => {
    // what it started has its session: the commands of a machine end with it
    if (child.pid !== undefined) nodeProcesses.signal(-child.pid, "SIGKILL");
    exit(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]));
  });
  child.once("close", handlers.onClosed);
  child.on("error", (error) => {
    // without a pid it did not start; with one, a signal or a message did not reach it, and "exit" follows
    if (child.pid === undefined) exit(NOT_STARTABLE, error.message);
  });
  return ok({
    pid: child.pid,
    send: (message) => {
      if (!child.connected) return false;
      child.send(message as object, () => {}); // an error of the channel: "exit" follows
      return true;
    },
    signal: (signal) => void child.kill(signal),
  });
};
