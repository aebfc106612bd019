/**
 * `lattice install`: makes a management cluster that owns itself, from a bootstrap cluster. Killed at any point, the same command continues.
 *
 * Exit code 0: installed, 1: refused, 2: not finished.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeProcesses, ok, type Result } from "#base";
import { fleetFolder, openFleetFolder, runningUp } from "#fleet";
import { runInstall, type BootstrapHost, type InstallFailure, type ManagementAccess, type ManagementFile } from "#install";
import type { KubeObject } from "#kube";
import { FleetClients } from "./install/fleet-clients.ts";
import { BOOTSTRAP, fleetHost, fleetManagement } from "./install/fleet-host.ts";
import { readInstallFile } from "./install/install-file.ts";
import { installProgress } from "./install/install-progress.ts";
import { bootstrapProblem, BOOTSTRAP_CELL, connectTo, kubeconfigHost, KubeconfigManagement, ownCell } from "./install/kubeconfig-host.ts";
import { reportError, reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { localEndpoints } from "./local-endpoints.ts";
import { shortPath } from "./short-path.ts";
import { inFleetFolder } from "./install/in-fleet-folder.ts";

export type InstallFlags = {
  readonly filename: readonly string[];
  readonly dataDir?: string;
  readonly bootstrapKubeconfig?: string;
  readonly bootstrapAddress?: string;
  readonly managementKubeconfig?: string;
  readonly output: "text" | "json";
};

export const DEFAULT_FOLDER = ".lattice";
/** How long steps may fail one after the other. */
export const PATIENCE_MS = 120_000;

export async function install(io: CommandIo, flags: InstallFlags): Promise<ExitCode> {
  const file = await readInstallFile(io, flags.filename, BOOTSTRAP);
  if (typeof file === "number") return file;
  const wrong = flagProblem(file, flags);
  if (wrong !== undefined) return reportFailure(io, wrong);
  return flags.bootstrapKubeconfig === undefined ? installLocal(io, file, flags) : installFrom(io, file, flags);
}

function flagProblem({ cluster }: ManagementFile, flags: InstallFlags): string | undefined {
  const { type } = cluster.spec.provider;
  const { bootstrapKubeconfig, bootstrapAddress, managementKubeconfig, dataDir } = flags;
  if (bootstrapKubeconfig === undefined) {
    const other = Object.entries({ "--bootstrap-address": bootstrapAddress, "--management-kubeconfig": managementKubeconfig }).find(
      ([, value]) => value !== undefined,
    );
    if (other !== undefined) return `${other[0]} is for a bootstrap cluster given with --bootstrap-kubeconfig`;
    if (type !== "local")
      return `a cluster of provider ${type} needs a bootstrap cluster with Lattice, Cluster API and that provider: give it with --bootstrap-kubeconfig (docs/guides/install.md)`;
    return undefined;
  }
  if (dataDir !== undefined) return "--data-dir is for clusters on this machine; leave it out, or leave out --bootstrap-kubeconfig";
  return managementKubeconfig === undefined
    ? `--bootstrap-kubeconfig needs --management-kubeconfig: a file with the kubeconfig of ${cluster.metadata.name}, which may be written while the installation runs`
    : undefined;
}

/** Clusters of this machine: this process is their supervisor until the end. */
async function installLocal(io: CommandIo, file: ManagementFile, flags: InstallFlags): Promise<ExitCode> {
  const { name } = file.cluster.metadata;
  const path = resolve(io.cwd, flags.dataDir ?? DEFAULT_FOLDER);
  const folder = fleetFolder(path);
  const running = await runningUp(folder);
  if (running !== undefined)
    return reportFailure(io, `lattice up runs in ${path} (process ${running.pid}); stop it with lattice down first`);
  const taken = `${path} has clusters of lattice up already; choose another folder with --data-dir`;
  // the state of the older layout is not moved by an installation
  if (existsSync(join(path, "data"))) return reportFailure(io, taken);
  const { clock, signal } = io;
  const opened = await openFleetFolder({ path, cluster: name, content: "installed", clock, signal, processes: nodeProcesses });
  if (!opened.ok) return reportFailure(io, opened.error);
  if (opened.value.content !== "installed" || opened.value.management !== name) {
    opened.value.close();
    const other =
      opened.value.content === "installed"
        ? `${path} has the management cluster ${opened.value.management}; choose another folder with --data-dir`
        : taken;
    return reportFailure(io, other);
  }
  const cluster = await withPorts(file.cluster);
  if (!cluster.ok) return reportFailure(io, cluster.error);
  const installed = await inFleetFolder(io, opened.value, async (fleet) => {
    const clients = new FleetClients(io, fleet);
    const ends = { host: fleetHost(fleet, clients), management: fleetManagement(fleet, clients, name) };
    const ended = await run(io, { ...file, cluster: cluster.value }, ends);
    await clients.close();
    return ended;
  });
  if (!installed.ok) return failedCode(io, installed.error);
  const kubeconfig = shortPath(io.cwd, folder.kubeconfig);
  const next = `run it with lattice up${flags.dataDir === undefined ? "" : ` --data-dir ${flags.dataDir}`}`;
  return printInstalled(io, flags, { name, kubeconfig, next });
}

/** Free ports for a cell on this machine, unless the file names them. */
async function withPorts(cluster: ManagementFile["cluster"]): Promise<Result<KubeObject, string>> {
  const written: Partial<NonNullable<ManagementFile["cluster"]["spec"]["endpoints"]>> = cluster.spec.endpoints ?? {};
  const free = await localEndpoints();
  if (!free.ok) return free;
  const { host: _host, ...ports } = free.value;
  const endpoints = { ...ports, ...written };
  return ok({ ...cluster, spec: { ...cluster.spec, endpoints } } as KubeObject);
}

async function installFrom(io: CommandIo, file: ManagementFile, flags: InstallFlags): Promise<ExitCode> {
  const client = await connectTo(io, resolve(io.cwd, flags.bootstrapKubeconfig ?? ""));
  if (!client.ok) return reportFailure(io, client.error);
  const management = new KubeconfigManagement(io, resolve(io.cwd, flags.managementKubeconfig ?? ""));
  try {
    const problem = await bootstrapProblem(client.value, io.signal);
    if (problem !== undefined) return reportFailure(io, problem);
    const cell = await ownCell(client.value, io.signal);
    if (!cell.ok) return reportFailure(io, cell.error);
    const { name } = file.cluster.metadata;
    if (name === (cell.value ?? BOOTSTRAP_CELL))
      return reportError(io, `the name ${name} is used by the bootstrap cluster; choose another one`);
    if (cell.value === undefined && flags.bootstrapAddress === undefined)
      return reportFailure(
        io,
        "the bootstrap cluster is no cell yet: give the address at which the machines reach it with --bootstrap-address",
      );
    const host = kubeconfigHost(client.value, { cell: cell.value, address: flags.bootstrapAddress });
    const installed = await run(io, file, { host, management });
    if (!installed.ok) return failedCode(io, installed.error);
    return printInstalled(io, flags, {
      name,
      kubeconfig: flags.managementKubeconfig ?? "",
      next: "the bootstrap cluster is not needed any more",
    });
  } finally {
    await management.close();
    await client.value.close();
  }
}

type Ends = { readonly host: BootstrapHost; readonly management: ManagementAccess };

function run(io: CommandIo, { cluster, beside }: { readonly cluster: KubeObject; readonly beside: ManagementFile["beside"] }, ends: Ends) {
  const { clock, random, signal, hostname } = io;
  const identity = `lattice-install-${hostname}`;
  return runInstall({
    ...ends,
    name: cluster.metadata.name,
    cluster,
    beside,
    clock,
    random,
    signal,
    identity,
    patienceMs: PATIENCE_MS,
    report: installProgress(io),
  });
}

/** A refusal is an answer; everything else is unfinished. */
export function failedCode(io: CommandIo, failure: InstallFailure | string): ExitCode {
  if (typeof failure === "string") return reportFailure(io, failure);
  const { kind, message } = failure;
  if (kind === "refused") return reportError(io, message);
  return reportFailure(io, kind === "stopped" ? message : `${message}; the same command continues`);
}

type Installed = { readonly name: string; readonly kubeconfig: string; readonly next: string };

function printInstalled(io: CommandIo, { output }: InstallFlags, { name, kubeconfig, next }: Installed): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ cluster: name, kubeconfig }, null, 2)}\n`);
  else io.stdout(`${name} is installed, and owns itself\n  kubeconfig  ${kubeconfig}\n  next        ${next}\n`);
  return 0;
}
