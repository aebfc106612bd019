/**
 * The program `lattice`: all commands of commands/ in one parser.
 *
 * Commands report their exit code through `done`; nothing below bin/ ends the process. The code of a command is imported when it runs:
 * `lattice version` must not wait for eight schemas.
 */
import { Command, CommanderError } from "commander";
import { describeThrown } from "#base";
import { GROUPS, type CommandContext } from "./commands/command.ts";
import { COMMANDS } from "./commands/index.ts";
import { withFipsFlag } from "./fips-flag.ts";
import type { CliIo } from "./io.ts";
import { versionText } from "./version.ts";
import { visibleIo } from "./visible-text.ts";

export async function runLattice(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const done = (code: number) => {
    exitCode = code;
  };
  const program = createProgram({ io: visibleIo(io), done });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2; // help was requested, or commander has printed the error
    io.stderr(`lattice: internal error: ${describeThrown(thrown)}\nPlease report it with the command you ran.\n`);
    return 2;
  }
}

/** The parser with every command. `lattice completion`, tests and the check of the docs read its commands and flags. */
export function createProgram(context: CommandContext): Command {
  const { io } = context;
  const program = new Command("lattice")
    .description("Clusters that own themselves; services that talk only when both sides agree.")
    .version(versionText(io), "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr, getOutHelpWidth: () => widthOf(io), getErrHelpWidth: () => widthOf(io) })
    .configureHelp({ subcommandTerm: (command) => command.name(), minWidthToWrap: 20 })
    .helpOption("-h, --help", "show this help")
    .showSuggestionAfterError()
    .showHelpAfterError("(lattice --help lists the commands)");
  withFipsFlag(program, io);
  for (const register of COMMANDS) register(program, context);
  program.commandsGroup(GROUPS.other).helpCommand("help [command]", "show the help of a command");
  return program;
}

const DEFAULT_COLUMNS = 80;

function widthOf({ terminal }: CliIo): number {
  return terminal?.columns() ?? DEFAULT_COLUMNS;
}
