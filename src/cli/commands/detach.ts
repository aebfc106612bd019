/** Flags of `lattice detach`. */
import { Option } from "commander";
import type { DetachFlags } from "../detach.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster } from "./shared-flags.ts";

export const registerDetach: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "detach", {
    group: "services",
    summary: "give a patched Deployment back to its owner",
    description:
      "give a patched Deployment back to its owner: delete the service in patch mode, and wait until the operator has restored the fields that were not changed since. Exit code 0: detached, 1: not finished in time, 2: could not be carried out",
    examples: [
      { command: "lattice detach web -n shop --dry-run", effect: "which fields would be restored, and which were changed since" },
      { command: "lattice detach web -n shop", effect: "delete LatticeService shop/web and wait" },
    ],
  });
  withCluster(command)
    .argument("<name>", "a LatticeService with spec.workloadRef")
    .option("-n, --namespace <name>", "its namespace (default: that of the kubeconfig's context, else default)")
    .option("--dry-run", "show the fields and change nothing")
    .option("--wait <duration>", "how long to wait for the operator (default: 2m)")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: DetachFlags) => done(await (await import("../detach.ts")).detach(io, name, flags)));
};
