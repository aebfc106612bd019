/** Flags of `lattice tree`. */
import { Option } from "commander";
import type { TreeFlags } from "../tree.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster } from "./shared-flags.ts";

export const registerTree: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "tree", {
    group: "operator",
    summary: "show the clusters below a cluster, with owner, agent and health",
    description:
      "show the clusters below a cluster, with phase, owner, agent and health. In the fleet of lattice up all levels are read; elsewhere the cluster and its children. Exit code 0: all are Ready, 1: some are not, 2: could not be read",
    examples: [
      { command: "lattice tree", effect: "the cluster and everything below it" },
      { command: "lattice tree --depth 1 -o json", effect: "the cluster and its children, for a script" },
    ],
  });
  withCluster(command)
    .option("--depth <levels>", "how many levels below the cluster are shown (default: all)")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: TreeFlags) => done(await (await import("../tree.ts")).printTree(io, flags)));
};
