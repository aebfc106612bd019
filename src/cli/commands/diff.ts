/** Flags of `lattice diff`. */
import { Option } from "commander";
import type { DiffFlags } from "../diff.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_TEXT, withCluster, withSecrets, withDomains, withFileNamespace } from "./shared-flags.ts";

export const registerDiff: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "diff", {
    group: "services",
    summary: "show what files would change",
    description:
      "show what files would change: objects, pods that roll, flows. Exit code 0: nothing, 1: something, 2: could not be compared",
    examples: [
      { command: "lattice diff -f examples/shop", effect: "what applying the files to the cluster would change" },
      { command: "lattice diff -f examples/shop --against shop.yaml", effect: "against other files, or output of lattice compile" },
    ],
  });
  withCluster(withSecrets(withDomains(withFileNamespace(command))))
    .requiredOption(FILES_FLAG, FILES_TEXT)
    .option("--against <path...>", "other files or folders, or what lattice compile printed before; without it, a cluster")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: DiffFlags) => done(await (await import("../diff.ts")).diff(io, flags)));
};
