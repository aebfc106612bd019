/** Flags of `lattice graph`. */
import { Option } from "commander";
import type { GraphFlags } from "../graph.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_OR_CLUSTER_TEXT, withCluster, withDomains, withNamespacesOrFiles } from "./shared-flags.ts";

export const registerGraph: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "graph", {
    group: "services",
    summary: "print which service may call which",
    description: "print which service may call which, and which calls are closed",
    examples: [
      { command: "lattice graph", effect: "what is declared in the cluster" },
      { command: "lattice graph -f examples/shop -o svg", effect: "from files, as a picture for a browser" },
      { command: "lattice graph -f examples/shop -o mermaid", effect: "as a flowchart for Markdown" },
    ],
  });
  withCluster(withDomains(withNamespacesOrFiles(command)))
    .option(FILES_FLAG, FILES_OR_CLUSTER_TEXT)
    .addOption(
      new Option("-o, --output <form>", "svg: a picture; mermaid: for Markdown; dot: for Graphviz")
        .choices(["text", "json", "svg", "mermaid", "dot"])
        .default("text"),
    )
    .action(async (flags: GraphFlags) => done(await (await import("../graph.ts")).printGraph(io, flags)));
};
