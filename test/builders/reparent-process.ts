/** `lattice reparent` as a process that can be killed when it prints a given line. */
import { spawn } from "node:child_process";
import { PROGRAM } from "./program.ts";

export type ReparentProcessOptions = {
  readonly kubeconfig: string;
  readonly to: string;
  readonly flags?: readonly string[];
  /** Called with every line of progress; true: SIGKILL. */
  readonly killAt?: (line: string) => boolean;
};

export type ReparentProcessResult = {
  /** Undefined: it was killed. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
};

export function runReparentProcess(options: ReparentProcessOptions): Promise<ReparentProcessResult> {
  const { kubeconfig, to, flags = [], killAt = () => false } = options;
  const args = [PROGRAM, "reparent", "leaf", "--kubeconfig", kubeconfig, "--to", to, ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: "/nonexistent" },
  });
  let [stdout, stderr, rest] = ["", "", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    const lines = `${rest}${chunk.toString()}`.split("\n");
    rest = lines.pop() ?? "";
    if (lines.some(killAt)) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code: code ?? undefined, stdout, stderr })));
}
