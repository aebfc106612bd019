/** Input and output of a command: streams, the environment, a signal. bin/lattice.ts takes them from the process; a test uses strings. */
import type { Clock } from "#base";
import type { SupervisorChannel } from "#fleet";
import type { StyledText } from "./styled-text.ts";

export type StopSignalName = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Whether the process exits at once after a repeated signal, or the command still ends by itself. */
export type RepeatHandler = (signal: StopSignalName) => "exit" | "wait";

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  /** The clone or package that the program runs from, which contains examples/. */
  readonly root: string;
  /**
   * How to start another process of this program: `node ...args COMMAND`. It names the file that this process runs, so that a child never
   * runs another version than its parent.
   */
  readonly program: { readonly node: string; readonly args: readonly string[] };
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdin: () => Promise<string>;
  /** Asks on the terminal without showing what is typed; undefined: the user has ended it. Absent if standard input is no terminal. */
  readonly askHidden?: ((question: string) => Promise<string | undefined>) | undefined;
  readonly nodeVersion: string;
  /** Whether the FIPS provider does the cryptography of this process. */
  readonly fipsActive: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  /** Identifies this process in leader election and logs. */
  readonly hostname: string;
  /** Fires on Ctrl-C, SIGTERM, and when the terminal is closed. */
  readonly signal: AbortSignal;
  /**
   * For a command that must end in order: `handler` gets the signals after the first one, and lost output (a closed pipe or terminal) stops
   * the command as a signal does, instead of ending the process. The returned function removes the handler.
   */
  readonly handleRepeats?: ((handler: RepeatHandler) => () => void) | undefined;
  /** The channel to `lattice up`, which started this process; absent in all other processes. */
  readonly supervisor?: SupervisorChannel | undefined;
  /** Owner of this process; absent where the system has no such number. */
  readonly userId?: number | undefined;
  /** Absent if standard output is a file or a pipe. */
  readonly terminal?: { readonly columns: () => number } | undefined;
};

/** The `CliIo` of commands: control characters in text of resources are escaped, and colours are written only where supported. */
export type CommandIo = CliIo & {
  readonly print: (text: StyledText) => void;
  /** Replaces the current line of stderr, which is a terminal. */
  readonly redraw: (line: string) => void;
};

/** 0: success, or the check passed. 1: the check failed. 2: the command could not run. */
export type ExitCode = 0 | 1 | 2;

/** The exit code of a command that was run for the user: any number. */
export type CommandExitCode = number;

/** An error for the user: what is wrong and how to fix it. Never a stack trace. */
export function reportError(io: CliIo, message: string): ExitCode {
  io.stderr(`lattice: ${message}\n`);
  return 1;
}

/** The same for a command that could not run, such as one with an invalid flag. */
export function reportFailure(io: CliIo, message: string): ExitCode {
  reportError(io, message);
  return 2;
}

/** Resolves when the signal fires. */
export function untilStopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
