/**
 * A cell and a child as two embedded clusters with real operators, sockets and clocks, without machines: a test does what the first node of the child
 * does. Every address of the child that the cell can see is one where nothing listens.
 */
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { expectOk, MetricsRegistry, noTracing, ok, silentLogger, systemClock } from "#base";
import { reducedCapiCrds } from "#bundle";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { fieldAt, parseYaml, secrets, type KubeObject } from "#kube";
import { startOperator, type OperatorConfig, type OperatorDependencies } from "#operator";
import { identity, localCluster } from "./cell-world.ts";

export type RunningOperator = { readonly stop: () => Promise<void> };

const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };

export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Nodes run, and the kinds of Lattice exist. `seed`: clusters of another one have other uids. */
export function startLatticeCluster(seed = 1): Promise<EmbeddedCluster> {
  return startEmbeddedCluster({ seed, controllers: true, objects: [HOME, ...latticeKinds.map(({ crd }) => crd())] });
}

export type Cell = { readonly cluster: EmbeddedCluster; readonly ports: readonly [number, number, number] };

export async function startCellCluster(name = "mgmt", seed = 1): Promise<Cell> {
  const cluster = await startLatticeCluster(seed);
  const [grpcPort = 0, bootstrapPort = 0, proxyPort = 0] = await freePorts(3);
  await cluster.add(...reducedCapiCrds());
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  await cluster.add(identity(name), localCluster(name, { endpoints }));
  return { cluster, ports: [grpcPort, bootstrapPort, proxyPort] };
}

/** `more`: such as the logger of the operator. `settings`: such as its bundle. */
export async function runOperator(
  cluster: EmbeddedCluster,
  more: Partial<OperatorDependencies> = {},
  settings: Partial<OperatorConfig> = {},
): Promise<RunningOperator> {
  const stop = new AbortController();
  const { url, certificateAuthority: ca = "" } = await cluster.listen();
  const token = /token: (\S+)/.exec(await cluster.kubeconfig())?.[1] ?? "";
  const apiServer = ok({ url, ca, authorization: () => Promise.resolve(`Bearer ${token.replaceAll('"', "")}`) });
  const config = { namespace: "lattice-system", identity: "test", leaderElection: false, health: { host: "127.0.0.1", port: 0 } };
  const metrics = new MetricsRegistry();
  const dependencies = {
    client: cluster.client,
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics,
    tracer: noTracing,
    apiServer,
  };
  const operator = expectOk(await startOperator({ ...config, ...settings }, { ...dependencies, ...more }, stop.signal));
  const running = operator.run(stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

/** The token that the first node of the child gets with its bootstrap data. */
export async function bootstrapToken(cell: EmbeddedCluster, child: string): Promise<string> {
  const key = { namespace: `capi-${child}`, name: `lattice-bootstrap-${child}` };
  const secret = await cell.waitFor<KubeObject>(secrets, key, (found) => found !== undefined, { timeoutMs: 20_000 });
  return decoded(fieldAt(secret, "data", "token"));
}

/** A value of a Secret. */
export function decoded(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString() : "";
}

export type PostedAnswer = { readonly status: number; readonly text: string };

/** What `curl` does on a node. */
export function post(
  url: string,
  ca: string,
  { token, body = "" }: { readonly token: string; readonly body?: string },
): Promise<PostedAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", ca, agent: false, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What `kubectl apply` does with the answer to a registration. */
export async function applyManifests(child: EmbeddedCluster, yaml: string): Promise<void> {
  const objects = expectOk(parseYaml(yaml)).map((document) => document as unknown as KubeObject);
  const isDefinition = ({ kind }: KubeObject) => kind === "CustomResourceDefinition";
  await child.add(
    ...(objects
      .filter(isDefinition)
      .filter(
        ({ metadata }) => !metadata.name.endsWith(".lattice.dev") || metadata.name.includes("infrastructure"),
      ) as readonly FixtureObject[]),
  );
  for (const object of objects.filter((one) => !isDefinition(one))) {
    const resource = child.resource(object.kind, object.apiVersion);
    expectOk(await child.client.apply(resource, object, { fieldManager: "kubectl", force: true }));
  }
}

/** The LatticeCluster, once it is as wanted. */
export function untilCluster(
  cell: EmbeddedCluster,
  name: string,
  matches: (cluster: LatticeCluster) => boolean,
  timeoutMs = 20_000,
): Promise<LatticeCluster | undefined> {
  return cell.waitFor(latticeClusters, { name }, (found) => found !== undefined && matches(found), { timeoutMs });
}
