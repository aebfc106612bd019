/**
 * The program `lattice`: one file per command, put together here.
 *
 * Commands report how they ended through `done`; nothing below bin/ ends the process.
 */
import { Command, CommanderError } from "commander";
import { describeThrown } from "#base";
import { addCrdsCommand } from "./crds.ts";
import type { CliIo, ExitCode } from "./io.ts";
import { addOperatorCommand } from "./operator.ts";
import { addRbacCommand } from "./rbac.ts";
import { addStartCommand } from "./start.ts";
import { addValidateCommand } from "./validate.ts";
import { addVersionCommand } from "./version.ts";

export async function runLattice(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2; // help, or commander has said what is wrong
    io.stderr(`lattice: something that should not happen did: ${describeThrown(thrown)}\nPlease report it with the command you ran.\n`);
    return 1;
  }
}

function createProgram(io: CliIo, done: (code: ExitCode) => void): Command {
  const program = new Command("lattice")
    .description("Clusters that own themselves; services that talk only when both sides agree.")
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .showSuggestionAfterError()
    .showHelpAfterError("(lattice --help lists the commands)");
  for (const add of [addStartCommand, addValidateCommand, addCrdsCommand, addOperatorCommand, addRbacCommand, addVersionCommand]) {
    add(program, io, done);
  }
  for (const command of program.commands) command.exitOverride().configureOutput({ writeOut: io.stdout, writeErr: io.stderr });
  return program;
}
