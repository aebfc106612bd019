/** What `lattice up` prints about the laptop fleet, and which commands to try. */
import { clusterFolder, type FleetFolder } from "#fleet";
import type { InstallProgress } from "#install";
import type { CliIo } from "../io.ts";
import { shortPath } from "../short-path.ts";
import { SHOP_CLUSTER } from "./laptop-plan.ts";
import { absolute, dataDirFlag, ending } from "./up-text.ts";

export const LAPTOP_FIRST = [
  "A management cluster (mgmt) is made by a bootstrap cluster, owns itself, and makes",
  "two children: east, which has a child of its own (edge), and west with the shop.",
  "API servers and operators are processes; machines are folders.",
  "",
  "",
].join("\n");

export const LAPTOP_AGAIN = "The clusters start as they were left:\n\n";
export const LAPTOP_LATE = "\nNot everything is Ready yet; ./lattice tree shows what each cluster waits for.\n";

const STEPS: Readonly<Record<Extract<InstallProgress, { kind: "step" }>["step"], string | undefined>> = {
  "create-bootstrap": "a bootstrap cluster starts",
  "make-cell": "it becomes a cell",
  "apply-cluster": "it creates the management cluster",
  detach: "the management cluster owns itself, and forgets its parent",
  "release-bootstrap": "the bootstrap cluster forgets it",
  "remove-bootstrap": "the bootstrap cluster is removed",
  "move-back": "its objects move to the bootstrap cluster",
  "delete-cluster": "its machines are deleted",
  done: undefined,
};

/** Phases of the cluster have rows of their own. */
export function installText(progress: InstallProgress): string | undefined {
  if (progress.kind === "wait") return undefined;
  return progress.kind === "step" ? STEPS[progress.step] : undefined;
}

export function nextForLaptop(io: CliIo, folder: FleetFolder): string {
  const flag = dataDirFlag(io, folder);
  const short = (path: string) => shortPath(io.cwd, path);
  const west = short(clusterFolder(folder, SHOP_CLUSTER).kubeconfig);
  return [
    "Every cluster owns itself: it has its own Cluster API objects.",
    `kubeconfigs: ${short(folder.kubeconfig)} (mgmt), ${short(folder.clusters)}/NAME/kubeconfig`,
    "",
    "Try, in another terminal:",
    "",
    "  1. stop the parent; its children run on:",
    `       ./lattice stop mgmt${flag}`,
    "  2. scale a child, while its parent is gone:",
    `       export KUBECONFIG=${absolute(west)}`,
    `       kubectl patch lc ${SHOP_CLUSTER} --type merge \\`,
    `         -p '{"spec":{"nodes":{"workers":2}}}'`,
    "  3. see the fleet, then start the parent again:",
    `       ./lattice tree --kubeconfig ${short(folder.kubeconfig)}`,
    `       ./lattice start mgmt${flag}`,
    "",
    `The shop runs on ${SHOP_CLUSTER}, and one agreement is missing:`,
    `       ./lattice why cart catalog --kubeconfig ${west}`,
    "",
    ...ending(io, folder),
  ].join("\n");
}
