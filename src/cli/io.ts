/**
 * What a command may touch of the world: text out, files in, the environment, a signal. bin/lattice.ts fills it from the
 * process; a test fills it with strings.
 */
import type { Clock } from "#base";
import type { StyledText } from "./styled-text.ts";

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  /** The clone or package that the program runs from: examples/ lies there. */
  readonly root: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly nodeVersion: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Names this process among others: leader election, log lines. */
  readonly hostname: string;
  /** Fires on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Owner of this process; absent where the system has no such number. */
  readonly userId?: number | undefined;
  /** Absent: standard output is a file or a pipe. */
  readonly terminal?: { readonly columns: () => number } | undefined;
};

/** What commands get: text of resources cannot act on the terminal, and colours are written only where they are wanted. */
export type CommandIo = CliIo & { readonly print: (text: StyledText) => void };

/** 0: done, or the answer is yes. 1: the answer is no. 2: the command could not be carried out. */
export type ExitCode = 0 | 1 | 2;

/** Of a command that was run for the user, passed on as it is: any number. */
export type CommandExitCode = number;

/** A message for the person at the terminal: what is wrong and what would fix it. Never a stack trace. */
export function complain(io: CliIo, message: string): ExitCode {
  io.stderr(`lattice: ${message}\n`);
  return 1;
}

/** The same for a question that makes no sense: a flag that is wrong, or one that is missing. */
export function misunderstood(io: CliIo, message: string): ExitCode {
  complain(io, message);
  return 2;
}

/** Until Ctrl-C or SIGTERM. */
export function untilAskedToStop(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
