/** Flags of `lattice install`. */
import { Option } from "commander";
import type { InstallFlags } from "../install.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { FILES_FLAG } from "./shared-flags.ts";

export const registerInstall: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "install", {
    group: "operator",
    summary: "make a management cluster that owns itself",
    description:
      "make a management cluster that owns itself, from a bootstrap cluster: a process of this machine for provider local, else the cluster of --bootstrap-kubeconfig or a temporary one of kind. It gets what it needs from the bundle, and loses it at the end. Killed at any point, the same command continues. Exit code 0: installed, 1: refused, 2: not finished",
    examples: [
      {
        command: "lattice install -f examples/clusters/management.yaml --data-dir /tmp/prod",
        effect: "on this machine; lattice up runs it afterwards",
      },
      {
        command:
          "lattice install -f cluster.yaml --bootstrap kind --bundle bundle --bootstrap-address 172.18.0.1 --management-kubeconfig mgmt.kubeconfig",
        effect: "from a cluster of kind, which is deleted at the end",
      },
      {
        command:
          "lattice install -f cluster.yaml --bootstrap-kubeconfig seed.kubeconfig --bundle bundle --bootstrap-address 10.0.0.5 --management-kubeconfig mgmt.kubeconfig",
        effect: "from a cluster that exists, which is afterwards as it was",
      },
    ],
  })
    .requiredOption(
      FILES_FLAG,
      "the LatticeCluster of the management cluster, with Namespaces and Secrets that it refers to; - reads standard input",
    )
    .option("--data-dir <folder>", "where a cluster on this machine keeps state, kubeconfigs and logs (default: .lattice)")
    .addOption(
      new Option(
        "--bootstrap <how>",
        "the bootstrap cluster: a process of this machine, or a cluster of kind (default: embedded for provider local, else kind if there is a program kind)",
      ).choices(["embedded", "kind"]),
    )
    .option("--bootstrap-kubeconfig <file>", "a bootstrap cluster that exists; it stays, and loses what was installed in it")
    .option(
      "--bootstrap-address <host>",
      "the address of this machine at which machines and the bootstrap cluster reach this command; that of the bootstrap cluster, if it has Lattice already",
    )
    .option("--bundle <folder>", "the bundle with Cluster API and the provider, for the bootstrap cluster and the management cluster")
    .option("--operator-image <image>", "the image of the operator of the management cluster, such as that of a mirror")
    .option(
      "--operator-bundle <folder>",
      "the folder of the bundle in that image; without it the management cluster makes clusters of provider local only",
    )
    .option("--management-kubeconfig <file>", "the kubeconfig of the management cluster; the file may be written while the command runs")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: InstallFlags) => done(await (await import("../install.ts")).install(io, flags)));
};
