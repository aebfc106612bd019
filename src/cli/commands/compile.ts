/** Flags of `lattice compile`. */
import { Option } from "commander";
import type { CompileFlags } from "../compile.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_TEXT, withSecrets, withDomains, withFileNamespace } from "./shared-flags.ts";

export const registerCompile: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "compile", {
    group: "services",
    summary: "compile services into Kubernetes objects",
    description: "compile services and Score files into every object they need, without a cluster",
    examples: [
      { command: "lattice compile -f examples/shop --placeholder-secrets", effect: "every object of the shop, as YAML" },
      {
        command: "lattice compile -f examples/shop --secrets examples/shop/secrets.example -o json",
        effect: "with values of secrets, as a List",
      },
      { command: "lattice compile -f examples/shop --placeholder-secrets -o dir --out compiled", effect: "one file per object" },
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
