/** Former ports of a cell: what connects there is passed to the present port of the same listener. TLS and HTTP/2 end there, not here. */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Logger } from "#base";
import type { EndpointsSpec, ServedEndpoints } from "#controllers";

export type FormerPort = { readonly host: string; readonly port: number; readonly to: { readonly host: string; readonly port: number } };

const PORTS = ["grpcPort", "bootstrapPort", "proxyPort"] as const;

/** `bindAddress`: of a host, see the cell's service. A port that the cell uses itself now cannot be a former one, too. */
export function formerPorts({ current, former }: ServedEndpoints, bindAddress: (host: string) => string): readonly FormerPort[] {
  const own = bindAddress(current.host);
  const used = new Set<string>(PORTS.map((name) => `${own} ${current[name]}`));
  return former.flatMap((one: EndpointsSpec) =>
    PORTS.flatMap((name) => {
      const host = bindAddress(one.host);
      const port = one[name];
      // one listener on all addresses takes every loopback address with it
      if (used.has(`${host} ${port}`) || used.has(`${EVERY} ${port}`)) return [];
      used.add(`${host} ${port}`);
      return [{ host, port, to: { host: own === EVERY ? "127.0.0.1" : own, port: current[name] } }];
    }),
  );
}

const EVERY = "0.0.0.0";

/** A port that cannot be opened is logged: the cell serves the others. */
export async function openFormerPorts(ports: readonly FormerPort[], logger: Logger): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const servers = await Promise.all(ports.map((port) => openPort(port, sockets, logger)));
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
    },
  };
}

function openPort({ host, port, to }: FormerPort, sockets: Set<Socket>, logger: Logger): Promise<Server> {
  const server = createServer((incoming) => {
    const outgoing = connect(to.port, to.host);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  return new Promise((resolve) => {
    server.on("error", (error) => {
      logger.warn("a former port of the cell cannot be served", { host, port, error: error.message });
      resolve(server);
    });
    server.listen(port, host, () => resolve(server));
  });
}
