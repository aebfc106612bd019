/** Flags of `lattice reparent`. */
import { Option } from "commander";
import type { ReparentFlags } from "../reparent.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerReparent: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "reparent", {
    group: "operator",
    summary: "give a cluster that owns itself another parent",
    description:
      "give a cluster that owns itself another parent, also when its former one is gone. A command that was stopped or killed is continued by the same command. Exit code 0: the agent is connected to the new parent, 1: refused, 2: not finished",
    examples: [
      {
        command: "lattice reparent leaf --kubeconfig leaf.kubeconfig --to other.kubeconfig",
        effect: "leaf becomes a child of the cell of other.kubeconfig",
      },
      {
        command: "lattice reparent leaf --kubeconfig leaf.kubeconfig --to other.kubeconfig --from old.kubeconfig",
        effect: "the same, and release it at its former parent",
      },
      {
        command: "lattice reparent leaf --kubeconfig leaf.kubeconfig --to parent.kubeconfig",
        effect: "its own parent: another certificate for an agent that cannot come back",
      },
    ],
  })
    .argument("<name>", "the cluster")
    .requiredOption("--to <file>", "kubeconfig of the new parent, which must be a cell, or of its own parent")
    .option("--to-context <name>", "which context of it")
    .option("--kubeconfig <file>", "kubeconfig of the cluster itself; without it KUBECONFIG or ~/.kube/config")
    .option("--context <name>", "which context of it")
    .option("--from <file>", "kubeconfig of the former parent: release the cluster there")
    .option("--from-context <name>", "which context of it")
    .option("--dry-run", "check, print the next step and change nothing")
    .option("--wait <duration>", "how long to wait for the new parent and the agent (default: 5m)")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: ReparentFlags) => done(await (await import("../reparent.ts")).reparent(io, name, flags)));
};
