/**
 * `lattice uninstall`: the reverse of `lattice install`. The Cluster API objects of the management cluster are moved back into a bootstrap cluster, which deletes
 * its machines. Killed at any point, the same command continues.
 *
 * Exit code 0: gone, 1: refused, such as for a cluster with children, 2: not finished.
 */
import { resolve } from "node:path";
import { nodeProcesses, ok } from "#base";
import { fleetFolder, openFleetFolder, runningUp } from "#fleet";
import { runUninstall, type BootstrapHost, type ManagementAccess } from "#install";
import { FleetClients } from "./install/fleet-clients.ts";
import { fleetHost, fleetManagement } from "./install/fleet-host.ts";
import { inFleetFolder } from "./install/in-fleet-folder.ts";
import { installProgress } from "./install/install-progress.ts";
import { bootstrapProblem, connectTo, kubeconfigHost, KubeconfigManagement, ownCell } from "./install/kubeconfig-host.ts";
import { DEFAULT_FOLDER, failedCode, PATIENCE_MS } from "./install.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";

export type UninstallFlags = {
  readonly dataDir?: string;
  readonly bootstrapKubeconfig?: string;
  readonly managementKubeconfig?: string;
  readonly orphanChildren?: boolean;
  readonly output: "text" | "json";
};

export async function uninstall(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const { bootstrapKubeconfig, managementKubeconfig, dataDir } = flags;
  if ((bootstrapKubeconfig === undefined) !== (managementKubeconfig === undefined))
    return reportFailure(
      io,
      "--bootstrap-kubeconfig and --management-kubeconfig belong together: where the objects are moved to, and where they are",
    );
  if (bootstrapKubeconfig !== undefined && dataDir !== undefined)
    return reportFailure(io, "--data-dir is for clusters on this machine; leave it out, or leave out --bootstrap-kubeconfig");
  return bootstrapKubeconfig === undefined ? uninstallLocal(io, name, flags) : uninstallWith(io, name, flags);
}

async function uninstallLocal(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const path = resolve(io.cwd, flags.dataDir ?? DEFAULT_FOLDER);
  const running = await runningUp(fleetFolder(path));
  if (running !== undefined)
    return reportFailure(io, `lattice up runs in ${path} (process ${running.pid}); stop it with lattice down first`);
  const { clock, signal } = io;
  const opened = await openFleetFolder({ path, cluster: name, content: "installed", clock, signal, processes: nodeProcesses });
  if (!opened.ok) return reportFailure(io, opened.error);
  const { content, management, isNew } = opened.value;
  if (isNew || (content !== "installed" && content !== "laptop") || management !== name) {
    opened.value.close();
    const found =
      isNew || (content !== "installed" && content !== "laptop")
        ? "no installed management cluster"
        : `the management cluster ${management}`;
    return reportFailure(io, `${path} has ${found}, and not ${name}; choose the folder with --data-dir`);
  }
  const gone = await inFleetFolder(io, opened.value, async (fleet) => {
    const clients = new FleetClients(io, fleet);
    const ends = { host: fleetHost(fleet, clients), management: fleetManagement(fleet, clients, name) };
    const ended = await run(io, name, { ...ends, orphanChildren: flags.orphanChildren === true });
    await clients.close();
    // its children stay as they are, and the laptop fleet is not made again
    return ended.ok ? ok(void opened.value.setContent("installed")) : ended;
  });
  return gone.ok ? printGone(io, name, flags) : failedCode(io, gone.error);
}

async function uninstallWith(io: CommandIo, name: string, flags: UninstallFlags): Promise<ExitCode> {
  const client = await connectTo(io, resolve(io.cwd, flags.bootstrapKubeconfig ?? ""));
  if (!client.ok) return reportFailure(io, client.error);
  const management = new KubeconfigManagement(io, resolve(io.cwd, flags.managementKubeconfig ?? ""));
  try {
    const problem = await bootstrapProblem(client.value, io.signal);
    if (problem !== undefined) return reportFailure(io, problem);
    const cell = await ownCell(client.value, io.signal);
    if (!cell.ok) return reportFailure(io, cell.error);
    const host = kubeconfigHost(client.value, { cell: cell.value });
    const ended = await run(io, name, { host, management, orphanChildren: flags.orphanChildren === true });
    return ended.ok ? printGone(io, name, flags) : failedCode(io, ended.error);
  } finally {
    await management.close();
    await client.value.close();
  }
}

type Ends = { readonly host: BootstrapHost; readonly management: ManagementAccess; readonly orphanChildren: boolean };

function run(io: CommandIo, name: string, ends: Ends) {
  const { clock, random, signal, hostname } = io;
  return runUninstall({
    ...ends,
    name,
    clock,
    random,
    signal,
    identity: `lattice-uninstall-${hostname}`,
    patienceMs: PATIENCE_MS,
    report: installProgress(io),
  });
}

function printGone(io: CommandIo, name: string, { output }: UninstallFlags): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ cluster: name, deleted: true }, null, 2)}\n`);
  else io.stdout(`${name} is gone: its machines and its objects are deleted\n`);
  return 0;
}
