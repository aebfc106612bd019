/** `spec.endpoints` of a cell on this machine: three ports that are free now. They are written once, since children keep the addresses of their parent. */
import { createServer, type AddressInfo, type Server } from "node:net";
import { describeThrown, fromPromise, ok, type Result } from "#base";
import type { CellEndpoints } from "#install";

const HOST = "127.0.0.1";

export async function localEndpoints(): Promise<Result<CellEndpoints, string>> {
  const ports = await fromPromise(freePorts(3), (thrown) => `no free port of ${HOST} can be used: ${describeThrown(thrown)}`);
  if (!ports.ok) return ports;
  const [grpcPort = 0, bootstrapPort = 0, proxyPort = 0] = ports.value;
  return ok({ host: HOST, grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } });
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
