/** Runs a command in this process with in-memory output: what it wrote, and its exit code. */
import { FakeClock, seededRandom } from "#base";
import { runLattice, type CliIo } from "#cli";
import { PROGRAM } from "./program.ts";

/** `onOutput` gets the stdout so far, at each write. */
type Given = Partial<CliIo> & { readonly input?: string; readonly onOutput?: (stdout: string) => void };

export type CliRun = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Without output, in this folder, with a clock that stands still. */
export function cliIo(given: Partial<CliIo> = {}): CliIo {
  return {
    env: {},
    home: "/nonexistent",
    cwd: process.cwd(),
    root: process.cwd(),
    program: { node: process.execPath, args: [PROGRAM] },
    stdout: () => undefined,
    stderr: () => undefined,
    stdin: () => Promise.resolve(""),
    nodeVersion: "24.0.0",
    fipsActive: () => false,
    clock: new FakeClock(),
    random: seededRandom(1),
    hostname: "test",
    signal: new AbortController().signal,
    ...given,
  };
}

export async function runCli(argv: readonly string[], given: Given = {}): Promise<CliRun> {
  let stdout = "";
  let stderr = "";
  const { input = "", onOutput, ...overrides } = given;
  const io = cliIo({
    stdout: (text) => {
      stdout += text;
      onOutput?.(stdout);
    },
    stderr: (text) => void (stderr += text),
    stdin: () => Promise.resolve(input),
    ...overrides,
  });
  const code = await runLattice(argv, io);
  return { code, stdout, stderr };
}
