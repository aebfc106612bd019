/**
 * The API server that a command connects to, the first of: `--kubeconfig` and `--context`, KUBECONFIG, the cluster that `lattice up` runs
 * here, ~/.kube/config, the service account of the pod.
 */
import { PROGRAM_VERSION, err, ok, type Logger, type Result } from "#base";
import {
  createKubeClient,
  httpTransport,
  inClusterConfig,
  loadKubeconfig,
  type ClusterConfig,
  type KubeClient,
  type LoadKubeconfigOptions,
} from "#kube-client";
import type { CliIo } from "./io.ts";
import { findLocalKubeconfig, type LocalKubeconfig } from "./local-kubeconfig.ts";
import { shortPath } from "./short-path.ts";

export type ClusterFlags = { readonly kubeconfig?: string; readonly context?: string };

export type ConnectOptions = {
  readonly logger: Logger;
  /** Absent: the cluster of `lattice up` is not considered. `report`: print on stderr that it is used. */
  readonly local?: { readonly report: boolean };
};

export type Connection = { readonly client: KubeClient; readonly config: ClusterConfig };

export async function connect(io: CliIo, flags: ClusterFlags, { logger, local }: ConnectOptions): Promise<Result<Connection, string>> {
  const config = await findConfig(io, flags, local);
  if (!config.ok) return err(config.error);
  const transport = httpTransport(config.value, { clock: io.clock, userAgent: `lattice/${PROGRAM_VERSION}` });
  return ok({ client: createKubeClient({ transport, clock: io.clock, random: io.random, logger }), config: config.value });
}

async function findConfig(io: CliIo, flags: ClusterFlags, local: ConnectOptions["local"]): Promise<Result<ClusterConfig, string>> {
  const { kubeconfig, context } = flags;
  const { env, home, clock } = io;
  const named = kubeconfig !== undefined || context !== undefined || (env["KUBECONFIG"] ?? "") !== "";
  const found: LocalKubeconfig = named || local === undefined ? { kind: "none" } : await findLocalKubeconfig(io);
  if (local?.report === true) reportLocal(io, found);
  const path = found.kind === "running" ? found.file : kubeconfig;
  const options: LoadKubeconfigOptions = { path, context, env, home, clock };
  const loaded = await loadKubeconfig(options);
  if (loaded.ok) return loaded;
  const inPod = env["KUBERNETES_SERVICE_HOST"] !== undefined && !named;
  if (loaded.error.kind !== "not-found" || found.kind === "running") return err(loaded.error.message);
  const pod = inPod ? await inClusterConfig({ env, clock }) : undefined;
  if (pod !== undefined) return pod.ok ? pod : err(pod.error.message);
  const stopped =
    found.kind === "stopped" ? `; the cluster in ${shortPath(io.cwd, found.folder)} is not running: start it with lattice up` : "";
  return err(`${loaded.error.message}${stopped}`);
}

function reportLocal(io: CliIo, found: LocalKubeconfig): void {
  if (found.kind === "running") io.stderr(`cluster: lattice up in ${shortPath(io.cwd, found.folder)}\n`);
  if (found.kind === "unsafe")
    io.stderr(`warning: ${shortPath(io.cwd, found.file)} is not used: ${found.why}; pass --kubeconfig to use it anyway\n`);
}
