/** Flags of `lattice move`. */
import { Option } from "commander";
import type { MoveFlags } from "../move.ts";
import { addCommand, type RegisterCommand } from "./command.ts";

export const registerMove: RegisterCommand = (program, { io, done }) => {
  addCommand(program, "move", {
    group: "operator",
    summary: "move the Cluster API objects of a namespace to another cluster",
    description:
      "move the Cluster API objects of a namespace to another cluster, with their status, in place of clusterctl move. A move that was stopped or killed is finished by the same command. Exit code 0: moved, 1: refused, 2: not finished",
    examples: [
      {
        command: "lattice move --kubeconfig a.kubeconfig --to-kubeconfig b.kubeconfig -n prod --dry-run",
        effect: "what would be moved, and what not",
      },
      {
        command: "lattice move --kubeconfig a.kubeconfig --to-kubeconfig b.kubeconfig -n prod",
        effect: "move it; the same again after a crash",
      },
      {
        command: "lattice move --kubeconfig a.kubeconfig --to-kubeconfig b.kubeconfig -n prod --abort",
        effect: "undo a move that is not committed",
      },
    ],
  })
    .option("--kubeconfig <file>", "the cluster to move from; without it KUBECONFIG or ~/.kube/config")
    .option("--kubeconfig-context <name>", "which context of it")
    .requiredOption("--to-kubeconfig <file>", "the cluster to move to, with Cluster API in the same version or a newer one")
    .option("--to-kubeconfig-context <name>", "which context of it")
    .option("-n, --namespace <name>", "the namespace to move (default: that of the context, else default)")
    .option("--dry-run", "print the plan and change nothing")
    .option("--abort", "delete the copies and unpause the source, if the target does not own the clusters yet")
    .option("--wait <duration>", "how long to wait for objects that block the move or are being deleted (default: 5m)")
    .option("--lease <duration>", "how long a killed move blocks the next one (default: 15s)")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (flags: MoveFlags) => done(await (await import("../move.ts")).move(io, flags)));
};
