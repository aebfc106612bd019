/** Flags of `lattice operator`. */
import { Option } from "commander";
import type { OperatorFlags } from "../operator-settings.ts";
import { addCommand, type RegisterCommand } from "./command.ts";
import { withCluster, withDomains } from "./shared-flags.ts";

export const registerOperator: RegisterCommand = (program, { io, done }) => {
  const command = addCommand(program, "operator", {
    group: "operator",
    summary: "run the operator against a cluster",
    examples: [
      { command: "lattice operator --kubeconfig ~/.kube/config", effect: "run it here, for a cluster elsewhere" },
      { command: "lattice operator --namespaces shop,payments", effect: "work in two namespaces only" },
    ],
  });
  withDomains(withCluster(command))
    .option("-n, --namespace <name>", "namespace of its Lease, its hash key, and provisioners for all services", "lattice-system")
    .option(
      "--namespaces <a,b>",
      "work in these namespaces only, with the roles of lattice rbac --namespaces; without it, in the whole cluster",
    )
    .option("--allow-unprotected", "start pods on a cluster without the kinds of Cilium and Istio, where no policy is enforced")
    .option("--health-address <host:port>", "address of health and metrics; port 0: any free port", "127.0.0.1:0")
    .option(
      "--webhook-address <host:port>",
      "address of the admission webhook for an operator outside the cluster, which API servers connect to (default: Service lattice-webhook in a Pod, otherwise none)",
    )
    .option("--no-leader-elect", "run without leader election; only if no second operator runs")
    .option("--lease-duration <duration>", "another operator leads at the latest this long after the leader has died (default: 15s)")
    .option("--identity-file <file>", "keeps the name of this candidate, so that an operator that is restarted leads again at once")
    .option(
      "--bundle <folder>",
      "manifests that new clusters get, made by lattice bundle (default: only clusters of provider local can be made)",
    )
    .option("--resync <duration>", "how often objects are reconciled without a change (default: 1m)")
    .option("--wait-for-server <duration>", "how long an API server that cannot be reached is tried again (default: it is tried once)")
    .addOption(new Option("--log-level <level>").choices(["debug", "info", "warn", "error"]).default("info"))
    .addOption(new Option("--log-format <format>").choices(["json", "text"]).default("text"))
    .action(async (flags: OperatorFlags) => done(await (await import("../operator.ts")).operate(io, flags)));
};
