/**
 * Runs a command of the user in the same terminal, and returns its exit code as a shell does: 127 when there is no such command, 126 when
 * it cannot be started, 128 + n when signal n ended it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { CliIo } from "./io.ts";

const [NOT_STARTED, NOT_FOUND, SIGNALLED] = [126, 127, 128];

/** `env`: added to the environment of this program. Signals are forwarded to the command. */
export function runCommand(io: CliIo, [file = "", ...args]: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(file, args, { cwd: io.cwd, env: { ...io.env, ...env }, stdio: "inherit" });
  const passOn = () => {
    const signal = io.signal.reason === "SIGINT" ? "SIGINT" : "SIGTERM";
    // Ctrl-C in a terminal reaches the command by itself; a second one makes many programs end without cleaning up
    if (signal !== "SIGINT" || !isatty(0)) child.kill(signal);
  };
  return new Promise<number>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT";
      io.stderr(`lattice: ${file}: ${missing ? "there is no such command" : `cannot be started: ${error.message}`}\n`);
      resolve(missing ? NOT_FOUND : NOT_STARTED);
    });
    child.once("exit", (code, signal) => resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal])));
    if (io.signal.aborted) passOn();
    else io.signal.addEventListener("abort", passOn, { once: true });
  }).finally(() => io.signal.removeEventListener("abort", passOn));
}
