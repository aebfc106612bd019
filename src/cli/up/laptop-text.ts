/** What `lattice up` prints about the laptop fleet, and which commands to try. */
import { clusterFolder, type FleetFolder, type OpenFolder } from "#fleet";
import type { InstallProgress } from "#install";
import { BOOTSTRAP } from "../install/fleet-host.ts";
import { stepText } from "../install/install-progress.ts";
import type { CliIo } from "../io.ts";
import { shortPath } from "../short-path.ts";
import { SHOP_CLUSTER } from "./laptop-plan.ts";
import { absolute, dataDirFlag, ending } from "./up-text.ts";

export const LAPTOP_FIRST = [
  "A bootstrap cluster makes a management cluster, mgmt, which then owns itself.",
  "It has two children: east, with a child of its own (edge), and west, with a shop.",
  "API servers and operators are processes of this machine; machines are folders.",
  "",
  "",
].join("\n");

export const LAPTOP_AGAIN = "The clusters start as they were left:\n\n";
export const LAPTOP_LATE = "\nNot everything is Ready yet; ./lattice tree shows what each cluster waits for.\n";

/** Phases of the cluster have rows of their own. */
export function installText(progress: InstallProgress): string | undefined {
  if (progress.kind === "wait") return undefined;
  return progress.kind === "step" ? stepText(progress.step) : undefined;
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

/** After an uninstallation. */
export function withoutClusters({ folder, management }: OpenFolder): string {
  return `${folder.path} has no clusters: ${management} was uninstalled; lattice install -f FILE --data-dir ${folder.path} makes it again`;
}

/** `clusters`: their names; children of a management cluster that was uninstalled are without it. */
export function nextForInstalled(io: CliIo, { folder, management }: OpenFolder, clusters: ReadonlySet<string>): string {
  const flag = dataDirFlag(io, folder);
  const short = (path: string) => shortPath(io.cwd, path);
  const unfinished = [
    `The installation of ${management}, or its removal, has not ended. Stop this with Ctrl-C, and run the same command again:`,
    `  lattice install -f FILE${flag}, or lattice uninstall ${management}${flag}`,
    "",
  ];
  const tried = [
    `kubeconfigs: ${short(folder.kubeconfig)} (${management}), ${short(folder.clusters)}/NAME/kubeconfig`,
    "",
    "Try, in another terminal:",
    "",
    `  ./lattice tree --kubeconfig ${short(folder.kubeconfig)}`,
    `  ./lattice stop ${management}${flag}`,
    `  ./lattice start ${management}${flag}`,
    "",
  ];
  const orphans = [`${management} was uninstalled; kubeconfigs of the others: ${short(folder.clusters)}/NAME/kubeconfig`, ""];
  return [...(clusters.has(BOOTSTRAP) ? unfinished : []), ...(clusters.has(management) ? tried : orphans), ...ending(io, folder)].join(
    "\n",
  );
}
