/** A relay between a client of TLS and its server that loses answers. */
import { createServer as createTcpServer, connect, type AddressInfo, type Socket } from "node:net";

export type DeafRelay = { readonly port: number; lose(count: number): void; close(): Promise<void> };

/** Passes connections on. Of the next `lose(n)` connections the client gets no byte of the answer, although the server has answered. */
export async function deafRelay(port: number): Promise<DeafRelay> {
  const sockets = new Set<Socket>();
  let losing = 0;
  const tcp = createTcpServer((near) => {
    const far = connect(port, "127.0.0.1");
    const loses = losing > 0;
    losing = Math.max(0, losing - 1);
    let answered = 0;
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
    near.on("data", (bytes) => far.write(bytes)).on("close", () => far.destroy());
    // the handshake of TLS is passed on; the answer is in the records that follow the request
    let requested = false;
    near.on("data", () => (requested = answered > 0));
    far.on("data", (bytes) => {
      answered += bytes.length;
      if (!loses || !requested) near.write(bytes);
    });
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  return {
    port: (tcp.address() as AddressInfo).port,
    lose: (count) => void (losing = count),
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => tcp.close(() => resolve()));
    },
  };
}
