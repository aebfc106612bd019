/** A terminal made of strings: what a command wrote, and how it ended. */
import { FakeClock, seededRandom } from "#base";
import { runLattice, type CliIo, type ExitCode } from "#cli";

export type CliRun = { readonly code: ExitCode; readonly stdout: string; readonly stderr: string };

export async function runCli(argv: readonly string[], given: Partial<CliIo> & { readonly input?: string } = {}): Promise<CliRun> {
  let stdout = "";
  let stderr = "";
  const { input = "", ...overrides } = given;
  const io: CliIo = {
    env: {},
    home: "/nonexistent",
    cwd: process.cwd(),
    root: process.cwd(),
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
    stdin: () => Promise.resolve(input),
    nodeVersion: "24.0.0",
    clock: new FakeClock(),
    random: seededRandom(1),
    hostname: "test",
    signal: new AbortController().signal,
    ...overrides,
  };
  const code = await runLattice(argv, io);
  return { code, stdout, stderr };
}
