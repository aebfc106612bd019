/** Flags of `lattice status`. */
import { Option } from "commander";
import type { StatusFlags } from "../status.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster, withNamespaces } from "./shared-flags.ts";

export const registerStatus: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "status", {
    group: "services",
    summary: "show services with one sentence each",
    description:
      "show services, external services and environments of a cluster with one sentence each. Exit code 0: all are Ready, 1: some are not, 2: could not be read",
    examples: [
      { command: "lattice status", effect: "everything in the namespace of the kubeconfig's context" },
      { command: "lattice status -A --watch", effect: "all namespaces, and every change until Ctrl-C" },
      { command: "lattice status cart catalog -o json", effect: "two services, for a script" },
    ],
  });
  withCluster(withNamespaces(command))
    .argument("[name...]", "only these: NAME or NAMESPACE/NAME")
    .option("-w, --watch", "show changes as they happen, until Ctrl-C")
    .addOption(
      new Option("-o, --output <form>", "wide: conditions too, and nothing is wrapped")
        .choices(["text", "wide", "json", "yaml"])
        .default("text"),
    )
    .action(async (names: string[], flags: StatusFlags) => done(await (await import("../status.ts")).printStatus(io, names, flags)));
};
