/** `lattice version`: what this is, and on what it runs. */
import type { Command } from "commander";
import { PROGRAM_VERSION } from "#base";
import type { CliIo, ExitCode } from "./io.ts";

export function addVersionCommand(program: Command, io: CliIo, done: (code: ExitCode) => void): void {
  program
    .command("version")
    .description("print the version of Lattice")
    .action(() => {
      io.stdout(`lattice ${PROGRAM_VERSION} (Node ${io.nodeVersion})\n`);
      done(0);
    });
}
