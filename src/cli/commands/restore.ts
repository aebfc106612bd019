/** Flags of `lattice restore`. */
import { Option } from "commander";
import type { RestoreFlags } from "../restore.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerRestore: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "restore", {
    group: "operator",
    summary: "bring a backup into a new API server, as the owner",
    description:
      "bring a backup into an API server that has Cluster API and none of its objects. It owns the cluster from then on; refused while the old owner answers. Exit code 0: restored, 1: refused, 2: not finished; the same command continues",
    examples: [
      {
        command: "lattice restore prod.backup --kubeconfig new.kubeconfig --key-file backup.key",
        effect: "restore it; the same again after a crash",
      },
      {
        command: "lattice restore prod.backup --kubeconfig new.kubeconfig --key-file backup.key --abort",
        effect: "undo a restore that was not finished",
      },
      { command: "lattice restore prod.backup --inspect --passphrase-file passphrase", effect: "check the file, and list what is in it" },
    ],
  })
    .argument("<file>", "that lattice backup has written")
    .option("--kubeconfig <file>", "the API server to restore into")
    .option("--context <name>", "which context of the kubeconfig")
    .option("--key-file <file>", "the key of the backup")
    .option("--passphrase-file <file>", "the passphrase of the backup; without a key and a file it is asked for")
    .option("--inspect", "check the file and list its objects; nothing is restored")
    .option("--abort", "delete what an unfinished restore of this backup has brought in; refused once the API server owns the cluster")
    .option("--old-owner-is-gone", "restore although the old owner may still run; two owners would fight over the machines")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (file: string, flags: RestoreFlags) => done(await (await import("../restore.ts")).restore(io, file, flags)));
};
