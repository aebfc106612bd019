/** Flags of `lattice up`. */
import type { UpFlags } from "../up.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerUp: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "up", {
    group: "local",
    summary: "run a cluster with Lattice on this machine",
    description: "run a cluster with Lattice on this machine until Ctrl-C; npm start does the same",
    examples: [
      { command: "lattice up", effect: "start a cluster with the example shop; state is kept in .lattice" },
      { command: "lattice up --data-dir /tmp/other", effect: "start a second one beside it" },
    ],
  })
    .option("--data-dir <folder>", "where its state and kubeconfig are kept", ".lattice")
    .option("--repair", "start with what is whole of a damaged folder; the damaged files are kept under other names")
    .action(async (flags: UpFlags) => done(await (await import("../up.ts")).up(io, flags)));
};
