/** Flags of `lattice why`. */
import { Option } from "commander";
import type { WhyFlags } from "../why.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_OR_CLUSTER_TEXT, withCluster, withDomains, withNamespacesOrFiles } from "./shared-flags.ts";

export const registerWhy: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "why", {
    group: "services",
    summary: "explain whether one service reaches another",
    description: "explain whether one service reaches another, and what decides it. Exit code 0: open, 1: closed, 2: could not be answered",
    examples: [
      { command: "lattice why cart catalog", effect: "in the cluster: open or closed, by which policies, and what to add" },
      { command: "lattice why cart catalog:8080 -f examples/shop", effect: "one port, from files" },
      { command: "lattice why --assert reach.yaml -f examples/shop", effect: "check in CI what must be open and what must be closed" },
    ],
  });
  withCluster(withDomains(withNamespacesOrFiles(command)))
    .argument("[caller and callee...]", "as in: frontend api, or shop/frontend shop/api:8080")
    .option(FILES_FLAG, FILES_OR_CLUSTER_TEXT)
    .option("--method <name>", "only requests with this method")
    .option("--path <path>", "only requests for this path")
    .option("--assert <file>", "check assertions of what is open and closed; exit code 0: all hold, 1: some do not")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (names: string[], flags: WhyFlags) => done(await (await import("../why.ts")).explainReach(io, names, flags)));
};
