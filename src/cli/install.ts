/**
 * `lattice install`: makes a management cluster that owns itself, from a bootstrap cluster. Killed at any point, the same command continues.
 *
 * Exit code 0: installed, 1: refused, 2: not finished.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { err, nodeProcesses, ok, type Result } from "#base";
import { fleetFolder, isEmptyInstallation, openFleetFolder, runningUp, type FoundFleet } from "#fleet";
import { runInstall, type InstallOptions, type ManagementFile } from "#install";
import type { KubeObject } from "#kube";
import { withBootstrapClusters, type BootstrapClusters } from "./install/bootstrap-clusters.ts";
import { bootstrapKind } from "./install/bootstrap-kind.ts";
import { failedCode, runOptions, DEFAULT_FOLDER } from "./install/command-run.ts";
import { FleetClients } from "./install/fleet-clients.ts";
import { BOOTSTRAP, fleetHost, fleetManagement } from "./install/fleet-host.ts";
import { readInstallFile } from "./install/install-file.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { localEndpoints } from "./local-endpoints.ts";
import { shortPath } from "./short-path.ts";
import { inFleetFolder } from "./install/in-fleet-folder.ts";

export type InstallFlags = {
  readonly filename: readonly string[];
  readonly dataDir?: string;
  readonly bootstrap?: "kind" | "embedded";
  readonly bootstrapKubeconfig?: string;
  readonly bootstrapAddress?: string;
  readonly managementKubeconfig?: string;
  readonly bundle?: string;
  readonly operatorImage?: string;
  readonly operatorBundle?: string;
  readonly output: "text" | "json";
};

export async function install(io: CommandIo, flags: InstallFlags): Promise<ExitCode> {
  const file = await readInstallFile(io, flags.filename, BOOTSTRAP);
  if (typeof file === "number") return file;
  const { metadata, spec } = file.cluster;
  const kind = await bootstrapKind(io, { ...flags, cluster: metadata.name, provider: spec.provider.type });
  if (!kind.ok) return reportFailure(io, kind.error);
  return kind.value === "embedded" ? installLocal(io, file, flags) : installFrom(io, file, flags);
}

/** Clusters of this machine: this process is their supervisor until the end. */
async function installLocal(io: CommandIo, file: ManagementFile, flags: InstallFlags): Promise<ExitCode> {
  const { name } = file.cluster.metadata;
  const path = resolve(io.cwd, flags.dataDir ?? DEFAULT_FOLDER);
  const folder = fleetFolder(path);
  const running = await runningUp(folder);
  if (running !== undefined)
    return reportFailure(io, `lattice up runs in ${path} (process ${running.pid}); stop it with lattice down first`);
  // the state of the older layout is not moved by an installation
  if (existsSync(join(path, "data"))) return reportFailure(io, hasOtherClusters(path));
  const cluster = await withPorts(file.cluster);
  if (!cluster.ok) return reportFailure(io, cluster.error);
  const { clock, signal } = io;
  const accept = (found: FoundFleet) => acceptInstallation(path, name, found);
  const opened = await openFleetFolder({ path, cluster: name, content: "installed", accept, clock, signal, processes: nodeProcesses });
  if (!opened.ok) return reportFailure(io, opened.error);
  const kubeconfig = shortPath(io.cwd, folder.kubeconfig);
  const installed = await inFleetFolder(io, opened.value, async (fleet) => {
    const clients = new FleetClients(io, fleet);
    const ends = { host: fleetHost(fleet, clients, flags.dataDir), management: fleetManagement(fleet, clients, { name, kubeconfig }) };
    const ended = await run(io, { cluster: cluster.value, beside: file.beside, file }, ends);
    await clients.close();
    return ended;
  });
  if (!installed.ok) return failedCode(io, installed.error);
  const next = `run it with lattice up${flags.dataDir === undefined ? "" : ` --data-dir ${flags.dataDir}`}`;
  return printInstalled(io, flags, { name, kubeconfig, next });
}

/** A folder without a fleet, that of an earlier run, or one whose clusters lattice uninstall has deleted. */
function acceptInstallation(path: string, name: string, found: FoundFleet): Result<void, string> {
  const { content, management, clusters, isNew } = found;
  if (content === "installed")
    return management === name || isEmptyInstallation(found)
      ? ok(undefined)
      : err(`${path} has the management cluster ${management}; choose another folder with --data-dir`);
  return isNew && content === "services" && clusters.length === 0 ? ok(undefined) : err(hasOtherClusters(path));
}

const hasOtherClusters = (path: string) => `${path} has clusters of lattice up already; choose another folder with --data-dir`;

/** Free ports for a cell on this machine, unless the file names them. */
async function withPorts(cluster: ManagementFile["cluster"]): Promise<Result<KubeObject, string>> {
  const written: Partial<NonNullable<ManagementFile["cluster"]["spec"]["endpoints"]>> = cluster.spec.endpoints ?? {};
  const free = await localEndpoints();
  if (!free.ok) return free;
  const { host: _host, ...ports } = free.value;
  const endpoints = { ...ports, ...written };
  return ok({ ...cluster, spec: { ...cluster.spec, endpoints } } as KubeObject);
}

/** From a bootstrap cluster that is not a process of this machine. */
function installFrom(io: CommandIo, file: ManagementFile, flags: InstallFlags): Promise<ExitCode> {
  const { name } = file.cluster.metadata;
  const { bootstrapKubeconfig, bootstrapAddress: address, bundle, operatorImage, operatorBundle } = flags;
  const managementKubeconfig = flags.managementKubeconfig ?? "";
  const provider = () => Promise.resolve(ok(file.cluster.spec.provider.type));
  const operator = { image: operatorImage, bundle: operatorBundle };
  const request = { cluster: name, provider, bootstrapKubeconfig, managementKubeconfig, bundle, address, operator };
  return withBootstrapClusters(io, request, async (ends) => {
    const installed = await run(io, { ...file, file }, ends);
    if (!installed.ok) return failedCode(io, installed.error);
    const next = "the bootstrap cluster is not needed any more";
    return printInstalled(io, flags, { name, kubeconfig: managementKubeconfig, next });
  });
}

function run(io: CommandIo, requested: Pick<InstallOptions, "cluster" | "beside" | "file">, ends: BootstrapClusters) {
  return runInstall({ ...runOptions(io, "install"), ...ends, name: requested.cluster.metadata.name, ...requested });
}

type Installed = { readonly name: string; readonly kubeconfig: string; readonly next: string };

function printInstalled(io: CommandIo, { output }: InstallFlags, { name, kubeconfig, next }: Installed): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ cluster: name, kubeconfig }, null, 2)}\n`);
  else io.stdout(`${name} is installed, and owns itself\n  kubeconfig  ${kubeconfig}\n  next        ${next}\n`);
  return 0;
}
