/**
 * Runs a command of the user in the same terminal, and returns its exit code as a shell does: 127 when there is no such command, 126 when
 * it cannot be started, 128 + n when signal n ended it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { CliIo } from "./io.ts";

const [NOT_STARTED, NOT_FOUND, SIGNALLED] = [126, 127, 128];

/**
 * `env`: added to the environment of this program. The first signal and a second one are forwarded to the command, and this program waits for
 * it: the command may need the server while it ends. A third signal kills it.
 */
export async function runCommand(
  io: CliIo,
  [file = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(file, args, { cwd: io.cwd, env: { ...io.env, ...env }, stdio: "inherit" });
  const forward = (name: unknown) => {
    const signal = name === "SIGINT" || name === "SIGHUP" ? name : "SIGTERM";
    // the terminal signals the command itself; the same signal twice makes many programs end without cleaning up
    if (signal === "SIGTERM" || !isatty(0)) child.kill(signal);
  };
  const onStop = () => forward(io.signal.reason);
  let repeats = 0;
  const release = io.handleRepeats?.((name) => {
    repeats += 1;
    if (repeats === 1) forward(name);
    else child.kill("SIGKILL");
    return "wait";
  });
  return new Promise<number>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT";
      io.stderr(`lattice: ${file}: ${missing ? "there is no such command" : `cannot be started: ${error.message}`}\n`);
      resolve(missing ? NOT_FOUND : NOT_STARTED);
    });
    child.once("exit", (code, signal) => resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal])));
    if (io.signal.aborted) onStop();
    else io.signal.addEventListener("abort", onStop, { once: true });
  }).finally(() => {
    io.signal.removeEventListener("abort", onStop);
    release?.();
  });
}
