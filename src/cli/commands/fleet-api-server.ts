/** The hidden command that the supervisor of `lattice up` starts, once per cluster. */
import type { FleetApiServerFlags } from "../fleet-api-server.ts";
import type { RegisterCommand } from "./command.ts";

export const registerFleetApiServer: RegisterCommand = (program, { io, done }) => {
  program
    .command("__fleet-api-server", { hidden: true })
    .description("the API server of one cluster of lattice up, which starts it")
    .requiredOption("--folder <folder>", "the folder of the cluster")
    .requiredOption("--name <name>", "the name of the cluster, for lists of processes")
    .action(async (flags: FleetApiServerFlags) => done(await (await import("../fleet-api-server.ts")).runFleetApiServer(io, flags)));
};
