/** Flags of `lattice graph`. */
import { Option } from "commander";
import type { GraphFormat } from "#compile";
import type { SourceFlags } from "../world-source.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_OR_CLUSTER_TEXT, withCluster, withSettings } from "./shared-flags.ts";

export const registerGraph: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "graph", {
    group: "services",
    summary: "print which service may call which",
    description: "print which service may call which, and which calls stay closed",
    examples: [
      { command: "lattice graph", effect: "what the cluster has declared" },
      { command: "lattice graph -f examples/shop -o dot", effect: "from files, for Graphviz" },
    ],
  });
  withCluster(withSettings(command))
    .option(FILES_FLAG, FILES_OR_CLUSTER_TEXT)
    .addOption(new Option("-o, --output <form>", "dot: for Graphviz").choices(["text", "dot", "json"]).default("text"))
    .action(async (flags: SourceFlags & { output: GraphFormat }) => done(await (await import("../graph.ts")).printGraph(io, flags)));
};
