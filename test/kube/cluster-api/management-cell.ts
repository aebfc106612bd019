/** A cell on a real API server: its kinds, its identity, its own LatticeCluster with three free ports, and an operator in this process. */
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import type { Bundle } from "#bundle";
import { formatYamlDocuments } from "#kube";
import { startOperator } from "#operator";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { installLatticeCrds, type PlaneAccess } from "../harness/index.ts";

export type ManagementCell = { readonly apply: (...objects: readonly object[]) => Promise<string>; readonly close: () => Promise<void> };

/** A LatticeCluster of provider docker whose machines are in memory. */
export function inMemoryCluster(name: string, spec: object): object {
  return {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeCluster",
    metadata: { name, annotations: { "lattice.dev/backend": "inMemory" } },
    spec: { provider: { type: "docker", kubernetes: { version: "1.36.3" } }, ...spec },
  };
}

export async function startManagementCell(plane: PlaneAccess, bundle: Bundle): Promise<ManagementCell> {
  const apply = (...objects: readonly object[]) =>
    plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(objects) });
  await installLatticeCrds(plane);
  const [grpcPort, bootstrapPort, proxyPort] = expectOk(await findFreePorts(3));
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  const identity = { name: "lattice-identity", namespace: "lattice-system" };
  await apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: identity, data: { cluster: "mgmt" } },
    inMemoryCluster("mgmt", { nodes: { controlPlane: 1, workers: 0 }, endpoints }),
  );
  const client = await clientOf(plane.kubeconfigText);
  const stop = new AbortController();
  const config = { namespace: "lattice-system", identity: "story", leaderElection: false, health: { host: "127.0.0.1", port: 0 }, bundle };
  const world = { client, clock: systemClock, random: seededRandom(1), logger: silentLogger };
  const operator = expectOk(await startOperator(config, { ...world, metrics: new MetricsRegistry(), tracer: noTracing }, stop.signal));
  const running = operator.run(stop.signal);
  const close = async () => {
    stop.abort();
    await running;
    await client.close();
  };
  return { apply, close };
}
