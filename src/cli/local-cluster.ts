/** A cluster on this machine: the embedded cluster with Lattice's kinds and the operator, in one process. */
import { describeThrown, err, fromPromise, MetricsRegistry, noTracing, ok, type Logger, type Result } from "#base";
import { reducedMeshCrds } from "#controllers";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { customResourceDefinitions, namespaces, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE, startOperator, type Operator } from "#operator";
import type { CliIo } from "./io.ts";

export type LocalCluster = {
  readonly url: string;
  readonly client: KubeClient;
  readonly operator: Operator;
  /** Simulated. */
  readonly nodes: number;
  /** Kinds of other projects that are served with reduced schemas. */
  readonly meshKinds: number;
  readonly close: () => Promise<void>;
};

const FIELD_MANAGER = "lattice-up";
const NODES = 2;

export type LocalClusterOptions = {
  readonly dataDir: string;
  readonly repair: boolean;
  readonly kubeconfig: string;
  readonly logger: Logger;
};

export async function startLocalCluster(
  io: CliIo,
  { dataDir, repair, kubeconfig, logger }: LocalClusterOptions,
): Promise<Result<LocalCluster, string>> {
  const { clock, random } = io;
  const started = await fromPromise(
    startEmbeddedCluster({ dataDir, repair, clock, random, logger, controllers: { simulation: { nodes: NODES } }, logActions: false }),
    describeThrown,
  );
  if (!started.ok) return started;
  const running = await applyKinds(io, { cluster: started.value, kubeconfig, logger });
  if (!running.ok) await started.value.close();
  return running;
}

type Parts = { readonly cluster: EmbeddedCluster; readonly kubeconfig: string; readonly logger: Logger };

async function applyKinds(io: CliIo, { cluster, kubeconfig, logger }: Parts): Promise<Result<LocalCluster, string>> {
  const { client } = cluster;
  const written = await fromPromise(cluster.writeKubeconfig(kubeconfig), describeThrown);
  if (!written.ok) return written;
  const { url } = await cluster.listen();
  const home: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } };
  const mesh = reducedMeshCrds();
  const crds: readonly KubeObject[] = [...latticeKinds.map(({ crd }) => crd()), ...mesh];
  const first = [{ resource: namespaces, object: home }, ...crds.map((object) => ({ resource: customResourceDefinitions, object }))];
  const applied = await applyAll(client, first);
  if (!applied.ok) return applied;
  const { clock, random } = io;
  const config = {
    namespace: OPERATOR_NAMESPACE,
    identity: `${io.hostname}-up`,
    leaderElection: true,
    health: { host: "127.0.0.1", port: 0 },
  };
  const dependencies = { client, clock, random, logger, metrics: new MetricsRegistry(), tracer: noTracing };
  const operator = await startOperator(config, dependencies, io.signal);
  if (!operator.ok) return operator;
  const ended = operator.value.run(io.signal);
  const close = async () => {
    await ended;
    await cluster.close();
  };
  return ok({ url, client, operator: operator.value, nodes: NODES, meshKinds: mesh.length, close });
}

/** Server-side apply, so that a second start changes nothing. Stops at the first error. */
export async function applyAll(
  client: KubeClient,
  all: readonly { readonly resource: Resource; readonly object: KubeObject }[],
): Promise<Result<void, string>> {
  for (const { resource, object } of all) {
    const answer = await client.apply(resource, object, { fieldManager: FIELD_MANAGER, force: true });
    if (!answer.ok) return err(`${object.kind} ${object.metadata.name} was refused: ${answer.error.message}`);
  }
  return ok(undefined);
}
