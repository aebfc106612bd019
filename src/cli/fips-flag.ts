/** `--fips`: accepted by every command, and checked before the command does anything. */
import { CommanderError, type Command } from "commander";
import { reportFailure, type CliIo } from "./io.ts";

/** Their processes are started without the settings of this one. */
const WITHOUT_PROVIDER: ReadonlySet<string> = new Set(["up"]);

export function withFipsFlag(program: Command, io: CliIo): Command {
  return program
    .option("--fips", "run only if OpenSSL's FIPS provider does all cryptography; with every command")
    .hook("preAction", (_program, command) => {
      const problem = program.getOptionValue("fips") === true ? fipsProblem(command.name(), io) : undefined;
      if (problem === undefined) return;
      throw new CommanderError(reportFailure(io, `--fips: ${problem}`), "lattice.fips", problem);
    });
}

function fipsProblem(command: string, { fipsActive }: CliIo): string | undefined {
  if (WITHOUT_PROVIDER.has(command))
    return `lattice ${command} starts processes without the FIPS provider; leave the flag out, or run an operator`;
  if (fipsActive()) return undefined;
  return "this process does not run under OpenSSL's FIPS provider; set NODE_OPTIONS to --enable-fips and --openssl-config (docs/fips.md)";
}
