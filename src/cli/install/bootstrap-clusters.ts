/** The two clusters of `lattice install` and `lattice uninstall` that are not processes of this machine: checked before anything is written, and closed at the end. */
import { resolve } from "node:path";
import { err, mapErr, ok, type Result } from "#base";
import { loadBundle, type Bundle, type ClusterBundle } from "#bundle";
import { planBootstrap, type BootstrapHost, type CellEndpoints, type ManagementAccess } from "#install";
import type { KubeClient } from "#kube-client";
import { clusterBundleFor } from "#operator";
import { reportFailure, type CliIo, type ExitCode } from "../io.ts";
import { localEndpoints } from "../local-endpoints.ts";
import { kubeconfigSource, type BootstrapSource } from "./bootstrap-source.ts";
import { KubeconfigManagement } from "./kubeconfig-management.ts";
import { kubeconfigHost, NO_ADDRESS, ownCell } from "./kubeconfig-host.ts";
import { KindSource } from "./kind-source.ts";
import { OwnOperator, type ManagementOperator } from "./own-operator.ts";
import { PreparedHost } from "./prepared-host.ts";
import { discardText } from "./person-commands.ts";
import { programRunner } from "./run-program.ts";

export type BootstrapRequest = {
  /** The name of the management cluster. */
  readonly cluster: string;
  /** The provider of its machines. */
  readonly provider: (management: ManagementAccess) => Promise<Result<string, string>>;
  /** Absent: a cluster of kind. */
  readonly bootstrapKubeconfig?: string | undefined;
  readonly managementKubeconfig: string;
  readonly bundle?: string | undefined;
  /** Where machines reach this machine, or the bootstrap cluster if it has an operator. */
  readonly address?: string | undefined;
  /** Of an installation; absent: nothing is made in the bootstrap cluster. */
  readonly operator?: ManagementOperator | undefined;
};

export type BootstrapClusters = { readonly host: BootstrapHost; readonly management: ManagementAccess };

/** An error of the request or of a cluster is reported, with exit code 2. */
export async function withBootstrapClusters(
  io: CliIo,
  request: BootstrapRequest,
  work: (clusters: BootstrapClusters) => Promise<ExitCode>,
): Promise<ExitCode> {
  const bundle = request.bundle === undefined ? ok(undefined) : loadBundle(resolve(io.cwd, request.bundle));
  if (!bundle.ok) return reportFailure(io, `--bundle: ${bundle.error.message}`);
  const source = await sourceOf(io, request);
  if (!source.ok) return reportFailure(io, source.error);
  const { cluster } = request;
  const path = resolve(io.cwd, request.managementKubeconfig);
  const management = new KubeconfigManagement(io, { path, cluster, mayComeLater: request.operator !== undefined });
  const operator = request.operator === undefined ? undefined : new OwnOperator(io, { bundle: bundle.value, management: request.operator });
  try {
    const parts = { source: source.value, management, operator, bundle: bundle.value };
    const usable = await management.check();
    const host = usable.ok ? await hostOf(io, request, parts) : usable;
    return host.ok ? await work({ host: host.value, management }) : reportFailure(io, host.error);
  } finally {
    await operator?.close();
    await management.close();
    await source.value.close();
  }
}

async function sourceOf(io: CliIo, { bootstrapKubeconfig, cluster }: BootstrapRequest): Promise<Result<BootstrapSource, string>> {
  if (bootstrapKubeconfig !== undefined) return kubeconfigSource(io, resolve(io.cwd, bootstrapKubeconfig));
  return ok(new KindSource(io, cluster, programRunner(io)));
}

type Parts = {
  readonly source: BootstrapSource;
  readonly management: KubeconfigManagement;
  readonly operator: OwnOperator | undefined;
  readonly bundle: Bundle | undefined;
};

/** Reads only. */
async function hostOf(io: CliIo, request: BootstrapRequest, parts: Parts): Promise<Result<BootstrapHost, string>> {
  const { cluster, provider } = request;
  const { source, management, operator } = parts;
  const { clock, signal } = io;
  const isGone = operator === undefined && (await management.isGone(signal));
  const bundle = async (): Promise<Result<ClusterBundle, string>> => {
    if (isGone) return ok({ providers: [], inventory: [] });
    const type = await provider(management);
    return type.ok ? bundleFor(type.value, parts.bundle) : type;
  };
  const found = await source.find(signal);
  if (!found.ok) return found;
  const plan = found.value === undefined ? undefined : await planBootstrap({ client: found.value.client, cluster, bundle, clock, signal });
  if (plan?.ok === false) return plan;
  if (found.value !== undefined && plan?.value.kind === "ready")
    return keptHost(io, request, { client: found.value.client, discard: discardText(source.kubeconfig, cluster) });
  // a cluster that is yet to be made is of no use without a bundle; one that is deleted already needs none
  const isNeeded = plan === undefined && (operator !== undefined || (await isThere(management, signal)));
  const needed = isNeeded ? await bundle() : ok(undefined);
  if (!needed.ok) return needed;
  const endpoints = await endpointsFor(request, management);
  if (!endpoints.ok) return endpoints;
  return ok(new PreparedHost({ source, cluster, bundle, operator, endpoints: endpoints.value, clock }));
}

async function isThere(management: ManagementAccess, signal: AbortSignal): Promise<boolean> {
  const found = await management.find(signal);
  return found.ok && found.value !== undefined;
}

type FindEndpoints = () => Promise<Result<CellEndpoints, string>>;

async function endpointsFor(
  { operator, provider, address }: BootstrapRequest,
  management: ManagementAccess,
): Promise<Result<FindEndpoints, string>> {
  if (operator === undefined) return ok(() => Promise.resolve(err("an uninstallation makes no cell")));
  const type = await provider(management);
  if (!type.ok) return type;
  if (address === undefined && type.value !== "local")
    return err(
      "the machines of the cluster register at this command: give an address of this machine that they reach with --bootstrap-address",
    );
  return ok(async () => {
    const local = await localEndpoints();
    return local.ok && address !== undefined ? ok({ ...local.value, host: address }) : local;
  });
}

function bundleFor(provider: string, bundle: Bundle | undefined): Result<ClusterBundle, string> {
  if (provider !== "local" && bundle === undefined)
    return err(`the bootstrap cluster has no Cluster API: give a bundle with provider ${provider} with --bundle (docs/guides/bundle.md)`);
  return mapErr(clusterBundleFor(provider, bundle), (message) => `--bundle: ${message}`);
}

async function keptHost(
  { signal }: CliIo,
  { cluster, address, operator, bundle }: BootstrapRequest,
  { client, discard }: { readonly client: KubeClient; readonly discard: string },
): Promise<Result<BootstrapHost, string>> {
  if (bundle !== undefined) return err("the bootstrap cluster has Lattice, whose operator has a bundle of its own; leave out --bundle");
  const cell = await ownCell(client, signal);
  if (!cell.ok) return cell;
  if (cluster === cell.value) return err(`the name ${cluster} is used by the bootstrap cluster; choose another one`);
  if (operator !== undefined && cell.value === undefined && address === undefined) return err(NO_ADDRESS);
  return ok(kubeconfigHost(client, { cell: cell.value, address, discard }));
}
