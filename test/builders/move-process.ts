/** `lattice move` as a process that can be killed when its output has a given line. */
import { spawn } from "node:child_process";
import { PROGRAM } from "./program.ts";

export type MoveProcessOptions = {
  readonly from: string;
  readonly to: string;
  readonly namespace: string;
  readonly flags?: readonly string[];
  /** Absent: the one of all stories. */
  readonly program?: string;
  /** Called with every line of progress, without its time; true: SIGKILL. */
  readonly killAt?: (line: string, number: number) => boolean;
};

export type MoveProcessResult = {
  /** Undefined: it was killed. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly steps: readonly string[];
};

export function runMoveProcess({
  from,
  to,
  namespace,
  flags = [],
  program = PROGRAM,
  killAt = () => false,
}: MoveProcessOptions): Promise<MoveProcessResult> {
  const args = [program, "move", "--kubeconfig", from, "--to-kubeconfig", to, "-n", namespace, ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: "/nonexistent" },
  });
  let [stdout, stderr, rest] = ["", "", ""];
  const steps: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    const lines = `${rest}${chunk.toString()}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const step = /^ *[0-9.]+s {2}(.*)$/.exec(line)?.[1];
      if (step === undefined) continue;
      steps.push(step);
      if (killAt(step, steps.length)) child.kill("SIGKILL");
    }
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code: code ?? undefined, stdout, stderr, steps })));
}
