/** `lattice version`: the version of the program and of Node. */
import { PROGRAM_VERSION } from "#base";
import type { CliIo, ExitCode } from "./io.ts";

export function printVersion(io: CliIo, output: "text" | "json"): ExitCode {
  const { nodeVersion } = io;
  io.stdout(`${output === "json" ? JSON.stringify({ version: PROGRAM_VERSION, nodeVersion }, null, 2) : versionText(io)}\n`);
  return 0;
}

export function versionText({ nodeVersion }: CliIo): string {
  return `lattice ${PROGRAM_VERSION} (Node ${nodeVersion})`;
}
