/** Runs vitest as a child process, showing its progress, and returns the counts. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { colorEnvironment } from "../process/color-environment.ts";
import { toolPath } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";
import { COUNTS_FILE } from "./counts-reporter.ts";
import { readCounts, type Counts } from "./counts.ts";

export type VitestRun = {
  readonly root: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly output?: "capture" | "show";
};
export type VitestResult = {
  readonly code: number;
  readonly counts: Counts;
  /** What was captured, errors last. */ readonly output: string;
};

export async function runVitest(run: VitestRun): Promise<VitestResult> {
  const scratch = await mkdtemp(join(tmpdir(), "lattice-vitest-"));
  const counts = join(scratch, "counts.json");
  const shown = run.args.some((arg) => arg.startsWith("--reporter"))
    ? []
    : [`--reporter=${join(import.meta.dirname, "progress-reporter.ts")}`];
  const args = ["run", ...shown, `--reporter=${join(import.meta.dirname, "counts-reporter.ts")}`, ...run.args];
  const terminal = run.output !== "capture" && process.stdout.isTTY;
  const env = { ...colorEnvironment(run.env ?? process.env, terminal), [COUNTS_FILE]: counts };
  try {
    const ran = await runNode(toolPath("vitest"), args, { cwd: run.root, env, output: run.output ?? "show" });
    return { code: ran.code, output: ran.stdout + ran.stderr, counts: readCounts(await readIfThere(counts), ran.code) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
