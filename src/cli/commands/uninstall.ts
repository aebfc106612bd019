/** Flags of `lattice uninstall`. */
import { Option } from "commander";
import type { UninstallFlags } from "../uninstall.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerUninstall: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "uninstall", {
    group: "operator",
    summary: "delete a management cluster, through a bootstrap cluster",
    description:
      "delete a management cluster: its Cluster API objects are moved back into a bootstrap cluster, which deletes its machines. A cluster with children is refused. Killed at any point, the same command continues. Exit code 0: gone, 1: refused, 2: not finished",
    examples: [
      { command: "lattice uninstall laptop --data-dir /tmp/prod", effect: "a cluster on this machine" },
      {
        command: "lattice uninstall mgmt --bootstrap kind --bundle bundle --management-kubeconfig mgmt.kubeconfig",
        effect: "with a cluster of kind, which is deleted at the end",
      },
      {
        command: "lattice uninstall mgmt --bootstrap-kubeconfig seed.kubeconfig --bundle bundle --management-kubeconfig mgmt.kubeconfig",
        effect: "with a cluster that exists, which is afterwards as it was",
      },
    ],
  })
    .argument("<name>", "the name of the management cluster")
    .option("--orphan-children", "delete it also if it has children, which run on without a parent")
    .option("--data-dir <folder>", "the folder of a cluster on this machine (default: .lattice)")
    .addOption(
      new Option(
        "--bootstrap <how>",
        "the bootstrap cluster: a process of this machine, or a cluster of kind (default: kind with --management-kubeconfig, else embedded)",
      ).choices(["embedded", "kind"]),
    )
    .option("--bootstrap-kubeconfig <file>", "a bootstrap cluster that exists; it stays, and loses what was installed in it")
    .option("--bundle <folder>", "the bundle with Cluster API and the provider, unless the bootstrap cluster has them")
    .option("--management-kubeconfig <file>", "the kubeconfig of the management cluster")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string, flags: UninstallFlags) => done(await (await import("../uninstall.ts")).uninstall(io, name, flags)));
};
