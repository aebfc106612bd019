/**
 * Starts another program and waits for it.
 *
 * A program that cannot be started is an answer like any other (code 127, as in a shell): most of ours may be absent,
 * git in an unpacked tarball or apt-get outside Debian, and the caller has something to say about it.
 */
import { spawn } from "node:child_process";

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** `show` hands our own output over, so that progress and colours reach the person; nothing is captured then. */
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

/** A program written in JavaScript or TypeScript, under this very Node. */
export function runNode(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return runProgram(process.execPath, [program, ...args], options);
}
