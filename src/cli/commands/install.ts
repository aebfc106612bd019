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
      "make a management cluster that owns itself, from a bootstrap cluster: a temporary one on this machine for provider local, else the one of --bootstrap-kubeconfig. Killed at any point, the same command continues. Exit code 0: installed, 1: refused, 2: not finished",
    examples: [
      {
        command: "lattice install -f examples/clusters/management.yaml --data-dir /tmp/prod",
        effect: "on this machine; lattice up runs it afterwards",
      },
      {
        command:
          "lattice install -f cluster.yaml --bootstrap-kubeconfig kind.kubeconfig --bootstrap-address 172.18.0.2 --management-kubeconfig mgmt.kubeconfig",
        effect: "from a cluster that has Lattice, Cluster API and the provider",
      },
    ],
  })
    .requiredOption(
      FILES_FLAG,
      "the LatticeCluster of the management cluster, with Namespaces and Secrets that it refers to; - reads standard input",
    )
    .option("--data-dir <folder>", "where a cluster on this machine keeps state, kubeconfigs and logs (default: .lattice)")
    .option("--bootstrap-kubeconfig <file>", "a cluster with Lattice, Cluster API and the provider, which stays as it is")
    .option("--bootstrap-address <host>", "the address at which machines reach the bootstrap cluster, unless it is a cell already")
    .option("--management-kubeconfig <file>", "the kubeconfig of the management cluster; the file may be written while the command runs")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: InstallFlags) => done(await (await import("../install.ts")).install(io, flags)));
};
