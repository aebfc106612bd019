/** `lattice version`: what this is, and on what it runs. */
import { PROGRAM_VERSION } from "#base";
import type { CliIo, ExitCode } from "./io.ts";

export function printVersion(io: CliIo): ExitCode {
  io.stdout(`lattice ${PROGRAM_VERSION} (Node ${io.nodeVersion})\n`);
  return 0;
}
