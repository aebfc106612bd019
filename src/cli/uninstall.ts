/**
 * `lattice uninstall`: the reverse of `lattice install`. The Cluster API objects of the management cluster are moved back into a bootstrap cluster, which deletes
 * its machines. Killed at any point, the same command continues.
 *
 * Exit code 0: gone, 1: refused, such as for a cluster with children, 2: not finished.
 */
import { resolve } from "node:path";
import { err, nodeProcesses, ok, type Result } from "#base";
import { latticeClusters } from "#crds";
import { fleetFolder, openFleetFolder, runningUp, type FoundFleet } from "#fleet";
import { runUninstall, type ManagementAccess } from "#install";
import { withBootstrapClusters, type BootstrapClusters } from "./install/bootstrap-clusters.ts";
import { bootstrapKind } from "./install/bootstrap-kind.ts";
import { DEFAULT_FOLDER, failedCode, runOptions } from "./install/command-run.ts";
import { FleetClients } from "./install/fleet-clients.ts";
import { fleetHost, fleetManagement } from "./install/fleet-host.ts";
import { inFleetFolder } from "./install/in-fleet-folder.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { shortPath } from "./short-path.ts";

export type UninstallFlags = {
  readonly dataDir?: string;
  readonly bootstrap?: "kind" | "embedded";
  readonly bootstrapKubeconfig?: string;
  readonly managementKubeconfig?: string;
  readonly bundle?: string;
  readonly orphanChildren?: boolean;
  readonly output: "text" | "json";
};

export async function uninstall(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const kind = await bootstrapKind(io, { ...flags, cluster: name, provider: undefined });
  if (!kind.ok) return reportFailure(io, kind.error);
  return kind.value === "embedded" ? uninstallLocal(io, name, flags) : uninstallWith(io, name, flags);
}

async function uninstallLocal(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const path = resolve(io.cwd, flags.dataDir ?? DEFAULT_FOLDER);
  const running = await runningUp(fleetFolder(path));
  if (running !== undefined)
    return reportFailure(io, `lattice up runs in ${path} (process ${running.pid}); stop it with lattice down first`);
  const { clock, signal } = io;
  const accept = (found: FoundFleet) => acceptUninstallation(path, name, found);
  const opened = await openFleetFolder({ path, cluster: name, content: "installed", accept, clock, signal, processes: nodeProcesses });
  if (!opened.ok) return reportFailure(io, opened.error);
  const gone = await inFleetFolder(io, opened.value, async (fleet) => {
    const clients = new FleetClients(io, fleet);
    const ends = {
      host: fleetHost(fleet, clients),
      management: fleetManagement(fleet, clients, { name, kubeconfig: shortPath(io.cwd, fleetFolder(path).kubeconfig) }),
    };
    const ended = await run(io, name, { ...ends, orphanChildren: flags.orphanChildren === true });
    await clients.close();
    // its children stay as they are, and the laptop fleet is not made again
    return ended.ok ? ok(void opened.value.setContent("installed")) : ended;
  });
  return gone.ok ? printGone(io, name, flags) : failedCode(io, gone.error);
}

function acceptUninstallation(path: string, name: string, { content, management }: FoundFleet): Result<void, string> {
  const isMade = content === "installed" || content === "laptop";
  if (isMade && management === name) return ok(undefined);
  const found = isMade ? `the management cluster ${management}` : "no installed management cluster";
  return err(`${path} has ${found}, and not ${name}; choose the folder with --data-dir`);
}

/** With a bootstrap cluster that is not a process of this machine. */
function uninstallWith(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const { bootstrapKubeconfig, managementKubeconfig = "", bundle } = flags;
  const provider = (management: ManagementAccess) => providerOf(management, name, io.signal);
  return withBootstrapClusters(io, { cluster: name, provider, bootstrapKubeconfig, managementKubeconfig, bundle }, async (ends) => {
    const ended = await run(io, name, { ...ends, orphanChildren: flags.orphanChildren === true });
    return ended.ok ? printGone(io, name, flags) : failedCode(io, ended.error);
  });
}

/** By its own LatticeCluster. */
async function providerOf(management: ManagementAccess, name: string, signal: AbortSignal): Promise<Result<string, string>> {
  const client = await management.find(signal);
  if (!client.ok) return client;
  const own = await client.value?.get(latticeClusters, { name }, { signal });
  if (own?.ok === true) return ok(own.value.spec.provider.type);
  return err(`LatticeCluster ${name} cannot be read in the management cluster: ${own?.error.message ?? "it is deleted"}`);
}

type Ends = BootstrapClusters & { readonly orphanChildren: boolean };

function run(io: CommandIo, name: string, ends: Ends) {
  return runUninstall({ ...runOptions(io, "uninstall"), ...ends, name });
}

function printGone(io: CommandIo, name: string, { output }: UninstallFlags): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ cluster: name, deleted: true }, null, 2)}\n`);
  else io.stdout(`${name} is gone: its machines and its objects are deleted\n`);
  return 0;
}
