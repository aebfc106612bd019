/** What `lattice install` and `lattice uninstall` have in common: how steps are run, and how a failure ends the command. */
import type { InstallFailure, RunOptions } from "#install";
import { reportError, reportFailure, type CommandIo, type ExitCode } from "../io.ts";
import { installProgress } from "./install-progress.ts";

export const DEFAULT_FOLDER = ".lattice";
/** How long steps may fail one after the other. */
const PATIENCE_MS = 120_000;

export function runOptions(io: CommandIo, command: "install" | "uninstall"): Omit<RunOptions, "name" | "host" | "management"> {
  const { clock, random, signal, hostname } = io;
  return { clock, random, signal, identity: `lattice-${command}-${hostname}`, patienceMs: PATIENCE_MS, ...installProgress(io) };
}

/** A refusal is an answer; everything else is unfinished. */
export function failedCode(io: CommandIo, failure: InstallFailure | string): ExitCode {
  if (typeof failure === "string") return reportFailure(io, failure);
  const { kind, message } = failure;
  if (kind === "refused") return reportError(io, message);
  return reportFailure(io, kind === "stopped" ? message : `${message}; the same command continues`);
}
