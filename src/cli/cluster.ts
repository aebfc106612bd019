/** Which API server a command talks to: `--kubeconfig` and `--context`, KUBECONFIG, ~/.kube/config, or the pod it runs in. */
import { PROGRAM_VERSION, err, mapErr, ok, type Logger, type Result } from "#base";
import { createKubeClient, httpTransport, inClusterConfig, loadKubeconfig, type ClusterConfig, type KubeClient } from "#kube-client";
import type { CliIo } from "./io.ts";

export type ClusterFlags = { readonly kubeconfig?: string; readonly context?: string };

export type Connection = { readonly client: KubeClient; readonly config: ClusterConfig };

export async function connect(io: CliIo, flags: ClusterFlags, logger: Logger): Promise<Result<Connection, string>> {
  const config = await findConfig(io, flags);
  if (!config.ok) return err(config.error);
  const transport = httpTransport(config.value, { clock: io.clock, userAgent: `lattice/${PROGRAM_VERSION}` });
  return ok({ client: createKubeClient({ transport, clock: io.clock, random: io.random, logger }), config: config.value });
}

/** A pod is meant only when nothing was said: a person who names a kubeconfig means that one. */
async function findConfig(io: CliIo, { kubeconfig, context }: ClusterFlags): Promise<Result<ClusterConfig, string>> {
  const { env, home, clock } = io;
  const inPod =
    env["KUBERNETES_SERVICE_HOST"] !== undefined && kubeconfig === undefined && context === undefined && env["KUBECONFIG"] === undefined;
  const found = await (inPod ? inClusterConfig({ env, clock }) : loadKubeconfig({ path: kubeconfig, context, env, home, clock }));
  return mapErr(found, (error) => error.message);
}
