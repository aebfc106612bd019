/** Flags of `lattice pivot`. */
import { Argument, Option } from "commander";
import { PIVOT_ACTIONS, type PivotAction, type PivotFlags } from "../pivot/actions.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster } from "./shared-flags.ts";

export const registerPivot: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "pivot", {
    group: "operator",
    summary: "show and steer the pivot of a child; move clusters through files",
    description:
      "plan, status, resume and abort NAME work on the parent of a cluster, whose operator pivots it. export and import move the Cluster API objects of a namespace through a directory, where two clusters cannot reach each other. Exit code 0: done, 1: refused, 2: not finished",
    examples: [
      { command: "lattice pivot status prod", effect: "who owns cluster prod, and what to do next" },
      {
        command: "lattice pivot export --kubeconfig a.kubeconfig -n prod --directory prod-export",
        effect: "write the objects to files; the source stays paused",
      },
      {
        command: "lattice pivot import --kubeconfig b.kubeconfig --directory prod-export",
        effect: "take them over, and write a receipt for export --confirm",
      },
    ],
  })
    .addArgument(new Argument("<action>", "what to do").choices(PIVOT_ACTIONS))
    .argument("[name]", "of the LatticeCluster: for plan, status, resume and abort");
  withCluster(command)
    .option("--directory <dir>", "export: a new directory; import: the exported one")
    .option("-n, --namespace <name>", "export: the namespace (default: that of the context, else default)")
    .option("--confirm <file>", "export: the receipt of the import; deletes the objects at the source")
    .option("--abort", "export: unpause the source; import: delete what was imported")
    .option("--not-imported", "with export --abort: you know that no cluster has imported the directory or a copy of it")
    .option("--receipt <file>", "import: where to write the receipt (default: lattice-receipt.yaml in the directory)")
    .option("--force-owner", "import: take a directory of clusterctl; you know that its source does not own the clusters any more")
    .option("--wait <duration>", "how long to wait for the operator, or for objects that block the export (default: 5m)")
    .addOption(new Option("-o, --output <form>").choices(["text", "json"]).default("text"))
    .action(async (action: PivotAction, name: string | undefined, flags: PivotFlags) =>
      done(await (await import("../pivot.ts")).pivot(io, { action, name }, flags)),
    );
};
