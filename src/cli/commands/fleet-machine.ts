/** The hidden command that the supervisor of `lattice up` starts, once per local machine. */
import type { FleetMachineFlags } from "../fleet-machine.ts";
import type { RegisterCommand } from "./command.ts";

export const registerFleetMachine: RegisterCommand = (program, { io, done }) => {
  program
    .command("__fleet-machine", { hidden: true })
    .description("a local machine of lattice up, which starts it")
    .requiredOption("--folder <folder>", "the folder of the machine")
    .requiredOption("--name <name>", "the name of the machine, for lists of processes")
    .action(async (flags: FleetMachineFlags) => done(await (await import("../fleet-machine.ts")).runFleetMachine(io, flags)));
};
