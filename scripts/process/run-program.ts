/**
 * Starts another program and waits for it.
 *
 * A program that cannot be started is not an exception (code 127, as in a shell): many programs may be absent, such as apt-get outside
 * Debian, and the caller reports it.
 */
import { spawn } from "node:child_process";

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** `show`: the program inherits our output, so that progress and colours are visible; nothing is captured then. */
  readonly output?: "capture" | "show";
};

export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve) => {
    const output = options.output === "show" ? "inherit" : "pipe";
    const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ["ignore", output, output] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.once("error", (error) => resolve({ code: 127, stdout: "", stderr: error.message }));
    child.once("close", (code) =>
      resolve({ code: code ?? 1, stdout: Buffer.concat(stdout).toString("utf8"), stderr: Buffer.concat(stderr).toString("utf8") }),
    );
  });
}

/** Runs a program in JavaScript or TypeScript, with the Node of this process. */
export function runNode(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return runProgram(process.execPath, [program, ...args], options);
}
