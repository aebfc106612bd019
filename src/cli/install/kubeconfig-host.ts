/** A bootstrap cluster and a management cluster that kubeconfigs lead to. The bootstrap cluster stays: it has an operator and the providers already. */
import { existsSync } from "node:fs";
import { err, ok, PROGRAM_VERSION, type Result } from "#base";
import { latticeClusters } from "#crds";
import type { BootstrapHost, CellEndpoints, ManagementAccess } from "#install";
import { capiClusters, groupResourceOf, type Resource } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import type { CliIo } from "../io.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";

/** What a bootstrap cluster is called as a cell, unless it is one already. */
export const BOOTSTRAP_CELL = "lattice-bootstrap";

export type KubeconfigClusters = { readonly host: BootstrapHost; readonly close: () => Promise<void> };

export type KubeconfigHostOptions = {
  readonly kubeconfig: string;
  /** Its name, if it is a cell already. */
  readonly cell?: string | undefined;
  /** `spec.endpoints.host` of the cell that it becomes. */
  readonly address?: string | undefined;
};

export async function connectTo(io: CliIo, path: string): Promise<Result<KubeClient, string>> {
  const { clock, random, home } = io;
  const config = await loadKubeconfig({ path, env: {}, home, clock });
  if (!config.ok) return err(config.error.message);
  return ok(
    createKubeClient({ transport: httpTransport(config.value, { clock, userAgent: `lattice/${PROGRAM_VERSION}` }), clock, random }),
  );
}

export function kubeconfigHost(
  client: KubeClient,
  { cell = BOOTSTRAP_CELL, address }: Omit<KubeconfigHostOptions, "kubeconfig">,
): BootstrapHost {
  return {
    name: cell,
    isPermanent: true,
    find: () => Promise.resolve(ok(client)),
    create: () => Promise.resolve(ok(undefined)),
    remove: () => Promise.resolve(ok(undefined)),
    endpoints: () => Promise.resolve(endpointsOf(address)),
  };
}

function endpointsOf(host: string | undefined): Result<CellEndpoints, string> {
  if (host === undefined)
    return err("the bootstrap cluster is no cell yet: give the address at which machines reach it with --bootstrap-address");
  return ok({ host, grpcPort: 50_051, bootstrapPort: 8_443, proxyPort: 8_444, service: { type: "LoadBalancer" } });
}

/** Kinds that a bootstrap cluster needs before anything is created in it. */
export async function bootstrapProblem(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
  for (const [resource, how] of [
    [latticeClusters as Resource, "install Lattice's kinds and operator (docs/guides/install.md)"],
    [capiClusters as Resource, "install Cluster API and the provider, such as with clusterctl init"],
  ] as const) {
    const listed = await client.list(resource, { limit: 1 }, { signal });
    if (listed.ok) continue;
    return listed.error.kind === "not-found"
      ? `the bootstrap cluster has no ${groupResourceOf(resource)}; ${how} first`
      : `the bootstrap cluster cannot be used: ${listed.error.message}`;
  }
  return undefined;
}

/** The file may be written while the installation runs. */
export class KubeconfigManagement implements ManagementAccess {
  readonly #io: CliIo;
  readonly #path: string | undefined;
  #client: KubeClient | undefined;

  constructor(io: CliIo, path: string | undefined) {
    this.#io = io;
    this.#path = path;
  }

  readonly find = async (): Promise<Result<KubeClient | undefined, string>> => {
    if (this.#path === undefined) return err("give its kubeconfig with --management-kubeconfig");
    if (this.#client !== undefined) return ok(this.#client);
    if (!existsSync(this.#path)) return ok(undefined);
    const connected = await connectTo(this.#io, this.#path);
    if (connected.ok) this.#client = connected.value;
    return connected;
  };

  readonly kubeconfig = (): Promise<Result<string, string>> =>
    Promise.resolve(
      this.#path === undefined
        ? err("give its kubeconfig with --management-kubeconfig")
        : readRegularText(this.#path, { bytes: MAX_SMALL_FILE }),
    );

  async close(): Promise<void> {
    await this.#client?.close();
  }
}
