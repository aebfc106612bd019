/**
 * `lattice up --cell`: the management cluster gets its name and its own LatticeCluster, with three ports that are free now. They are written once:
 * its children keep the addresses of their parent.
 */
import { createServer, type AddressInfo, type Server } from "node:net";
import { err, ok, type Result } from "#base";
import { IDENTITY_CONFIG_MAP } from "#controllers";
import { latticeClusters } from "#crds";
import { configMaps, field, fieldAt, parseJson, type ConfigMap, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { OPERATOR_NAMESPACE } from "#operator";

const FIELD_MANAGER = "lattice-up";
const HOST = "127.0.0.1";

/** Both objects exist afterwards; those that exist already are not changed. */
export async function makeCell(client: KubeClient, name: string): Promise<Result<void, string>> {
  const identity: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: IDENTITY_CONFIG_MAP, namespace: OPERATOR_NAMESPACE },
    data: { cluster: name },
  };
  const named = await client.create(configMaps, identity, { fieldManager: FIELD_MANAGER });
  if (!named.ok && named.error.kind !== "already-exists") return err(`ConfigMap ${IDENTITY_CONFIG_MAP}: ${named.error.message}`);
  const found = await client.get(latticeClusters, { name });
  if (found.ok) return fieldAt(found.value, "spec", "endpoints") === undefined ? err(withoutEndpoints(name)) : ok(undefined);
  if (found.error.kind !== "not-found") return err(`LatticeCluster ${name}: ${found.error.message}`);
  const version = await serverVersion(client);
  if (!version.ok) return version;
  const created = await client.create<KubeObject>(latticeClusters, ownCluster(name, version.value, await freePorts(3)), {
    fieldManager: FIELD_MANAGER,
  });
  return created.ok ? ok(undefined) : err(`LatticeCluster ${name}: ${created.error.message}`);
}

function withoutEndpoints(name: string): string {
  return `LatticeCluster ${name} exists and has no spec.endpoints, which make a cluster a cell; add them, or leave out --cell`;
}

function ownCluster(name: string, version: string, [grpcPort = 0, bootstrapPort = 0, proxyPort = 0]: readonly number[]): KubeObject {
  const spec = {
    provider: { type: "local", kubernetes: { version } },
    nodes: { controlPlane: 1, workers: 0 },
    endpoints: { host: HOST, grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } },
  };
  const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name }, spec };
  return object;
}

async function serverVersion(client: KubeClient): Promise<Result<string, string>> {
  const answer = await client.raw("/version");
  if (!answer.ok) return err(answer.error.message);
  const parsed = parseJson(answer.value);
  const version = parsed.ok ? field(parsed.value, "gitVersion") : undefined;
  return typeof version === "string" ? ok(version) : err("the API server reports no version");
}

/** All are open at once, so that they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: HOST, port: 0 }, () => resolve(server));
  });
}
