/** Flags of `lattice compile`. */
import { Option } from "commander";
import type { CompileFlags } from "../compile.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_TEXT, withSecrets, withDomains, withFileNamespace } from "./shared-flags.ts";

export const registerCompile: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "compile", {
    group: "services",
    summary: "compile services and clusters into Kubernetes objects",
    description: "compile services, Score files and LatticeClusters into every object they need, without a cluster",
    examples: [
      { command: "lattice compile -f examples/shop --placeholder-secrets", effect: "every object of the shop, as YAML" },
      {
        command: "lattice compile -f examples/shop --secrets examples/shop/secrets.example -o dir --out compiled",
        effect: "with values of secrets, one file per object",
      },
      { command: "lattice compile -f examples/clusters/docker.yaml", effect: "the Cluster API objects of a cluster" },
    ],
  });
  withSecrets(withDomains(withFileNamespace(command)))
    .option("--placeholder-secrets", "write a placeholder for secrets that have no value, instead of failing")
    .requiredOption(FILES_FLAG, FILES_TEXT)
    .addOption(new Option("-o, --output <form>", "dir: one file per object").choices(["yaml", "json", "dir"]).default("yaml"))
    .option("--out <folder>", "where -o dir writes")
    .option("--force", "write into a folder that is not empty")
    .option("--workloads-only", "leave out the objects of namespaces: Namespace, default deny, waypoint")
    .action(async (flags: CompileFlags) => done(await (await import("../compile.ts")).compile(io, flags)));
};
