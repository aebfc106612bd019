/** Flags of `lattice patch-preview`. */
import { Option } from "commander";
import type { PreviewFlags } from "../patch-preview.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG, FILES_TEXT, withCluster, withDomains, withFileNamespace, withSecrets } from "./shared-flags.ts";

export const registerPatchPreview: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "patch-preview", {
    group: "services",
    summary: "show what patch mode would change in Deployments",
    description:
      "show what services in patch mode would change in their Deployments: each field with its value now and its owner, and the flows that open. Exit code 0: nothing, 1: something, 2: could not be shown",
    examples: [
      { command: "lattice patch-preview -f service.yaml", effect: "on the Deployment in the cluster" },
      { command: "lattice patch-preview -f service.yaml --against deployment.yaml", effect: "on a Deployment in a file, as kubectl get prints it" },
    ],
  }); // prettier-ignore
  withCluster(withSecrets(withDomains(withFileNamespace(command))))
    .requiredOption(FILES_FLAG, FILES_TEXT)
    .option("--against <path...>", "files or folders with the Deployments and other services; without it, a cluster")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: PreviewFlags) => done(await (await import("../patch-preview.ts")).patchPreview(io, flags)));
};
