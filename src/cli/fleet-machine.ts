/** `lattice __fleet-machine`: the process of one local machine, a child of `lattice up`. Its output is the log of the machine. */
import { resolve } from "node:path";
import { nodeProcesses } from "#base";
import { runMachine } from "#fleet";
import { reportFailure, type CliIo, type CommandExitCode } from "./io.ts";

export type FleetMachineFlags = { readonly folder: string; readonly name: string };

export async function runFleetMachine(io: CliIo, { folder }: FleetMachineFlags): Promise<CommandExitCode> {
  if (io.supervisor === undefined) return reportFailure(io, "__fleet-machine is started by lattice up, and not by hand");
  const { pid } = nodeProcesses;
  const { program, env, signal } = io;
  const ran = await runMachine({ folder: resolve(io.cwd, folder), program, env, pid, signal, print: (line) => io.stdout(`${line}\n`) });
  // its commands have its process group: they end with it, also when lattice up was killed
  if (signal.aborted) nodeProcesses.signal(-pid, "SIGKILL");
  return ran.ok ? ran.value : reportFailure(io, ran.error);
}
