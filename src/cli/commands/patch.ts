/** Flags of `lattice patch`. */
import { Option } from "commander";
import type { PatchFlags } from "../patch.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerPatch: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "patch", {
    group: "other",
    summary: "try a patch on an object, without a cluster",
    description: "apply a patch to an object as an API server would, and show what happened to each list",
    examples: [
      {
        command: "lattice patch -f docs/guides/patches/deployment.yaml -p docs/guides/patches/patch.yaml",
        effect: "a strategic merge patch from a file",
      },
      {
        command: `lattice patch -f docs/guides/patches/deployment.yaml --type merge -p '{"spec":{"replicas":3}}'`,
        effect: "a JSON merge patch on the command line",
      },
    ],
  })
    .requiredOption("-f, --filename <file>", "the object; - reads standard input")
    .requiredOption("-p, --patch <file or text>", "the patch: a file, -, or YAML or JSON that begins with { or [")
    .addOption(new Option("--type <type>").choices(["strategic", "merge", "json"]).default("strategic"))
    .option("--schema <file>", "the CRD of a custom resource: its lists then merge by their list types")
    .addOption(new Option("-o, --output <form>").choices(["yaml", "json"]).default("yaml"))
    .action(async (flags: PatchFlags) => done(await (await import("../patch.ts")).patchFile(io, flags)));
};
