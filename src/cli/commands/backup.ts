/** Flags of `lattice backup`. */
import { Option } from "commander";
import type { BackupFlags } from "../backup.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster } from "./shared-flags.ts";

export const registerBackup: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "backup", {
    group: "operator",
    summary: "save what a cluster is made of, encrypted, in one file",
    description:
      "save the Cluster API objects of a cluster with their Secrets, its LatticeCluster and its identity in one encrypted file. Nothing is paused. Exit code 0: saved, 1: refused, 2: not finished",
    examples: [
      {
        command: "lattice backup --self --kubeconfig prod.kubeconfig -o prod.backup --key-file backup.key",
        effect: "a cluster that owns itself",
      },
      { command: "lattice backup dev -o dev.backup --passphrase-file passphrase", effect: "a child that its parent still owns" },
    ],
  })
    .argument("[name]", "of a LatticeCluster whose objects are in the cluster that is connected to")
    .option("--self", "the cluster that is connected to");
  withCluster(command)
    .requiredOption("-o, --out <file>", "the file to write")
    .option("--key-file <file>", "a key of 32 random bytes: raw, hexadecimal or base64")
    .option("--passphrase-file <file>", "a passphrase of at least 12 characters; without a key and a file it is asked for")
    .option("--force", "replace an existing file")
    .addOption(new Option("--output <form>").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, flags: BackupFlags) => done(await (await import("../backup.ts")).backup(io, name, flags)));
};
