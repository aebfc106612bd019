/** `lattice` as a process that is killed at a line of its output, and the same command again. */
import { spawn } from "node:child_process";
import { PROGRAM } from "./program.ts";

export type RanCommand = { readonly code: number | null; readonly output: string };

export type CommandOptions = {
  /** Of this process by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** SIGKILL as soon as the output matches. */
  readonly killWhen?: RegExp | undefined;
};

export async function runCommand(argv: readonly string[], { env = process.env, killWhen }: CommandOptions = {}): Promise<RanCommand> {
  const child = spawn(process.execPath, [PROGRAM, ...argv], { stdio: ["ignore", "pipe", "pipe"], env });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (killWhen?.test(output) === true) child.kill("SIGKILL");
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

/** Killed at each of these, one after the other; a run may pass one before it is killed, or end. Then the command runs to its end. */
export async function runKilledAt(steps: readonly RegExp[], run: (killWhen?: RegExp) => Promise<RanCommand>): Promise<RanCommand> {
  for (const step of steps) {
    const ran = await run(step);
    if (ran.code === 0) return ran;
  }
  return run();
}
